// SPDX-License-Identifier: BSD-3-Clause
// Tests that GoogleTest skips: the set-up of their suite fails or skips, or a test before them with --gtest_fail_fast.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

using namespace gputest::literals;

class Broken : public testing::Test {
protected:
  static void SetUpTestSuite() { FAIL() << "as it should"; }
};
GPUTEST_SUITE_NEEDS(Broken, 3_GiB);
TEST_F(Broken, needs_memory) {}

class Skipping : public testing::Test {
protected:
  static void SetUpTestSuite() { GTEST_SKIP() << "as it should"; }
};
GPUTEST_SUITE_NEEDS(Skipping, 3_GiB);
TEST_F(Skipping, needs_memory) {}

GPUTEST_NEEDS(Failing, fails, no_gpu);
TEST(Failing, fails) { FAIL() << "as it should"; }
GPUTEST_NEEDS(Failing, needs_memory, 3_GiB);
TEST(Failing, needs_memory) {}

GPUTEST_SUITE_NEEDS(Shared, 3_GiB, suite_lease);
TEST(Shared, needs_memory) {}

GPUTEST_SUITE_NEEDS(Later, 3_GiB);
TEST(Later, needs_memory) {}

} // namespace
