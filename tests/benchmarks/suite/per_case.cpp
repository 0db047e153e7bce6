// SPDX-License-Identifier: BSD-3-Clause
#include "device_buffer.hpp"

#include <gtest/gtest.h>

// Many small cases in one process. Built twice: with gputest::main, and with GoogleTest's own main.
class PerCase : public testing::TestWithParam<int> {};

TEST_P(PerCase, fills_and_verifies_a_mebibyte) {
  DeviceBuffer buffer{gputest::Bytes{1ULL << 20U}};
  EXPECT_EQ(buffer.exercise(std::chrono::milliseconds{0}), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, PerCase, testing::Range(0, PER_CASE_COUNT));
