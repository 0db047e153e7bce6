// SPDX-License-Identifier: BSD-3-Clause
#include "device_buffer.hpp"

#include <gtest/gtest.h>

// Built twice: with gputest::main, where gpu_add_test() says the memory, and with GoogleTest's own main.
TEST(Suite, fills_and_verifies_its_memory) {
  DeviceBuffer buffer{gputest::parse_bytes(SUITE_SIZE)};
  EXPECT_EQ(buffer.exercise(std::chrono::milliseconds{SUITE_WORK_MS}), 0U);
}
