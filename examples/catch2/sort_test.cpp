// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/device.hpp>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("keys are sorted", "[gpu:3GiB]") {
  // 3 GiB of one device are this test case's, in all its sections: allocate, launch, compare, free.
  CHECK(gputest::current_devices().size() == 1);
}

TEST_CASE("a small table is sorted", "[gpu_small]") { CHECK_FALSE(gputest::current_devices().empty()); }
