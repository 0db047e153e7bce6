// SPDX-License-Identifier: BSD-3-Clause
#include "suite.hpp"

// Large tests need the device to themselves: `ctest -j8` skips them and says so, `ctest -L gpu_large -j1` runs them.
class WholeDevice : public LargeTest {};

TEST_F(WholeDevice, transposes_in_place) { EXPECT_EQ(DeviceBuffer{units(12)}.exercise(work_time), 0U); }

TEST_F(WholeDevice, checks_64_bit_indices) { EXPECT_EQ(DeviceBuffer{units(11)}.exercise(work_time), 0U); }

// Large, with bytes: still excluded under -j, but it leaves the rest of the device to others.
GPUTEST_NEEDS(WholeDevice, joins_two_tables, units(10));
TEST_F(WholeDevice, joins_two_tables) {
  DeviceBuffer left{units(5)};
  DeviceBuffer right{units(5)};
  EXPECT_EQ(left.exercise(work_time / 2), 0U);
  EXPECT_EQ(right.exercise(work_time / 2), 0U);
}
