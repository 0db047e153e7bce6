// Tests that pass, skip and fail; linked with gputest and, to compare, without it.

#include <gtest/gtest.h>

#include <algorithm>

namespace {

TEST(Passing, first) {}
TEST(Passing, second) {}
TEST(Passing, third) {}
TEST(Passing, DISABLED_fourth) {}

TEST(Skipping, first) { GTEST_SKIP() << "of its own accord"; }
TEST(Skipping, second) { GTEST_SKIP() << "of its own accord"; }

TEST(Failing, fails) { FAIL() << "as it should"; }
TEST(Failing, throws) { throw 1; }

int turn = 0;
TEST(Changing, skips_from_the_second_repeat_on) {
  if (++turn > 1) {
    GTEST_SKIP() << "the second time";
  }
}

class Numbered : public testing::TestWithParam<int> {};
TEST_P(Numbered, passes) { EXPECT_GE(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(All, Numbered, testing::Range(0, 8));

} // namespace
