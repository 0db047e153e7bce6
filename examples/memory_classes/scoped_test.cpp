// SPDX-License-Identifier: BSD-3-Clause
#include "suite.hpp"

#include <numeric>
#include <vector>

// A scoped test holds the GPU for a section only. The annotation says the most that it will ever lease.
class Pipeline : public ScopedTest {};

GPUTEST_NEEDS(Pipeline, uploads_what_the_host_prepared, units(4));
TEST_F(Pipeline, uploads_what_the_host_prepared) {
  std::vector<int> rows(1'000'000); // host work: other tests have the GPU meanwhile
  std::iota(rows.begin(), rows.end(), 0);
  {
    GPUTEST_LEASE(gpu, units(4));
    EXPECT_EQ(DeviceBuffer{units(4)}.exercise(work_time), 0U);
  }
  EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), 0LL), 499'999'500'000LL); // host work again
}
