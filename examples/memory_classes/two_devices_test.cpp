// SPDX-License-Identifier: BSD-3-Clause
#include "suite.hpp"

// A plain TEST() says nothing itself: its memory and its number of devices are gpu_add_test(MEMORY ... GPUS 2)'s, in
// CMakeLists.txt. If there are fewer devices, gputest skips it with the reason. Built without gputest, it has to check
// itself.
TEST(PeerCopy, uses_two_devices) {
  if (device_count() < 2) {
    GTEST_SKIP() << "needs two devices, and there is " << device_count();
  }
  DeviceBuffer here{2_GiB, 0};
  DeviceBuffer there{2_GiB, 1};
  EXPECT_EQ(here.exercise(work_time / 2), 0U);
  EXPECT_EQ(there.exercise(work_time / 2), 0U);
}
