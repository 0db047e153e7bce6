// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

// A graph that takes long to build, for tests that only read it. If 2 GiB of a device are not granted, neither
// SetUpTestSuite() nor TearDownTestSuite() runs, and every test is skipped with the reason.
class Graph : public testing::Test {
protected:
  static void SetUpTestSuite() { edges_ = std::make_unique<std::vector<int>>(1000, 1); } // on a GPU: cudaMalloc
  static void TearDownTestSuite() { edges_.reset(); }

  static inline std::unique_ptr<std::vector<int>> edges_;
};

GPUTEST_SUITE_NEEDS(Graph, 2_GiB, suite_lease);

TEST_F(Graph, has_all_edges) { EXPECT_EQ(edges_->size(), 1000U); }

TEST_F(Graph, has_no_edge_of_length_zero) { EXPECT_EQ(edges_->front(), 1); }
