// SPDX-License-Identifier: BSD-3-Clause
#include "suite.hpp"

// Small tests run beside each other and beside everything else.
class Vectors : public SmallTest {};

TEST_F(Vectors, adds) { EXPECT_EQ(DeviceBuffer{192_MiB}.exercise(work_time), 0U); }

TEST_F(Vectors, subtracts) { EXPECT_EQ(DeviceBuffer{192_MiB}.exercise(work_time), 0U); }

TEST_F(Vectors, scales) { EXPECT_EQ(DeviceBuffer{128_MiB}.exercise(work_time), 0U); }

TEST_F(Vectors, multiplies) { EXPECT_EQ(DeviceBuffer{192_MiB}.exercise(work_time), 0U); }

TEST_F(Vectors, finds_the_norm) { EXPECT_EQ(DeviceBuffer{64_MiB}.exercise(work_time), 0U); }

TEST_F(Vectors, finds_the_largest) { EXPECT_EQ(DeviceBuffer{64_MiB}.exercise(work_time), 0U); }

TEST_F(Vectors, copies) { EXPECT_EQ(DeviceBuffer{256_MiB}.exercise(work_time), 0U); }

TEST_F(Vectors, swaps) {
  DeviceBuffer first{128_MiB};
  DeviceBuffer second{128_MiB};
  EXPECT_EQ(first.exercise(work_time / 2), 0U);
  EXPECT_EQ(second.exercise(work_time / 2), 0U);
}
