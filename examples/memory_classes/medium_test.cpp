// SPDX-License-Identifier: BSD-3-Clause
#include "suite.hpp"

// Medium tests that say their bytes: as many run together as fit, and the rest wait.
class Sort : public MediumTest {};

GPUTEST_NEEDS(Sort, keys, units(6));
TEST_F(Sort, keys) { EXPECT_EQ(DeviceBuffer{units(6)}.exercise(work_time), 0U); }

GPUTEST_NEEDS(Sort, keys_backwards, units(6));
TEST_F(Sort, keys_backwards) { EXPECT_EQ(DeviceBuffer{units(6)}.exercise(work_time), 0U); }

GPUTEST_NEEDS(Sort, pairs, units(7));
TEST_F(Sort, pairs) {
  DeviceBuffer keys{units(3)};
  DeviceBuffer values{units(4)};
  EXPECT_EQ(keys.exercise(work_time / 2), 0U);
  EXPECT_EQ(values.exercise(work_time / 2), 0U);
}

GPUTEST_NEEDS(Sort, segments, units(3));
TEST_F(Sort, segments) { EXPECT_EQ(DeviceBuffer{units(3)}.exercise(work_time), 0U); }

class Graph : public MediumTest {};

GPUTEST_NEEDS(Graph, searches_breadth_first, units(5));
TEST_F(Graph, searches_breadth_first) { EXPECT_EQ(DeviceBuffer{units(5)}.exercise(work_time), 0U); }

GPUTEST_NEEDS(Graph, finds_shortest_paths, units(5));
TEST_F(Graph, finds_shortest_paths) { EXPECT_EQ(DeviceBuffer{units(5)}.exercise(work_time), 0U); }

GPUTEST_NEEDS(Graph, counts_triangles, units(4));
TEST_F(Graph, counts_triangles) { EXPECT_EQ(DeviceBuffer{units(4)}.exercise(work_time), 0U); }

GPUTEST_NEEDS(Graph, ranks_pages, units(2));
TEST_F(Graph, ranks_pages) { EXPECT_EQ(DeviceBuffer{units(2)}.exercise(work_time), 0U); }

// Medium tests that only say that they are medium: one at a time on a device, each with up to half of it.
class Solver : public MediumTest {};

TEST_F(Solver, factorises) { EXPECT_EQ(DeviceBuffer{units(7)}.exercise(work_time), 0U); }

TEST_F(Solver, iterates) { EXPECT_EQ(DeviceBuffer{units(6)}.exercise(work_time), 0U); }

TEST_F(Solver, refines) { EXPECT_EQ(DeviceBuffer{units(5)}.exercise(work_time), 0U); }
