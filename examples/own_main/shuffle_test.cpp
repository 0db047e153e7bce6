// SPDX-License-Identifier: BSD-3-Clause
#include "seed.hpp"

#include <gputest/device.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

// A plain TEST() needs what gpu_add_test(MEMORY ...) says: here nothing in the first entry, so small, and 1 GiB in the
// second.
TEST(Shuffle, keeps_every_key) {
  ASSERT_FALSE(gputest::current_devices().empty());
  std::vector<int> keys(1000);
  std::iota(keys.begin(), keys.end(), 0);
  std::shuffle(keys.begin(), keys.end(), std::mt19937{seed()});
  std::sort(keys.begin(), keys.end());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(keys[static_cast<std::size_t>(i)], i) << "seed " << seed();
  }
}
