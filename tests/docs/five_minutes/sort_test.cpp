// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

// Holds simulated memory for a second, in place of cudaMalloc() and a kernel.
void sort(const char* size) {
  const gputest::SimulatedBuffer keys{gputest::parse_bytes(size)};
  std::this_thread::sleep_for(std::chrono::seconds{1});
}

class SortKeys : public testing::TestWithParam<int> {};
TEST_P(SortKeys, of_seed) { sort("3GiB"); }
INSTANTIATE_TEST_SUITE_P(Eight, SortKeys, testing::Range(0, 8));

TEST(SortPairs, by_key) { sort("1GiB"); }

class SortAll : public gputest::LargeTest {}; // the whole GPU
TEST_F(SortAll, fills_the_gpu) { sort("15GiB"); }
