// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

// The fixture says how much of the GPU a test needs: SmallTest (256 MiB), MediumTest, LargeTest (all of it).
class Sum : public gputest::SmallTest {};

TEST_F(Sum, runs_on_the_device_that_was_chosen) {
  // From here on the GPU's memory is this test's. CUDA sees the chosen device as device 0.
  ASSERT_EQ(gputest::current_devices().size(), 1U);
  RecordProperty("device", gputest::current_devices().front().name);
}

// A test that says its bytes shares the GPU with whatever else fits beside it.
class Sort : public gputest::MediumTest {};
GPUTEST_NEEDS(Sort, has_room_for_its_keys, 3_GiB);

TEST_F(Sort, has_room_for_its_keys) {
  EXPECT_GE(gputest::current_devices().front().total, gputest::parse_bytes("3GiB"));
  // cudaMalloc() up to 3 GiB here; what a test leaves allocated stays counted until its process ends.
}
