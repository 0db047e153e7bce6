// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

class Small : public gputest::SmallTest {};
TEST_F(Small, has_a_device) { EXPECT_EQ(gputest::current_devices().size(), 1U); }

TEST(Layout, is_another_one) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  EXPECT_GT(sizeof(testing::TestInfo), 64U);
  EXPECT_EQ(std::string{test->name()}, "is_another_one");
}

} // namespace
