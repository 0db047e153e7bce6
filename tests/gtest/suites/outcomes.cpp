// SPDX-License-Identifier: BSD-3-Clause
// Tests that pass, skip and fail; linked with gputest and, to compare, without it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

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

TEST(Nesting, selects_nothing) {
  GTEST_FLAG_SET(filter, "NoSuchSuite.*");
  EXPECT_EQ(RUN_ALL_TESTS(), 0);
}

class Numbered : public testing::TestWithParam<int> {};
TEST_P(Numbered, passes) { EXPECT_GE(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(All, Numbered, testing::Range(0, 8));

bool fails_in(const char* place) {
  const char* const where = std::getenv("FAIL_IN");
  return where != nullptr && std::string{where} == place;
}

class OddEnvironment : public testing::Environment {
public:
  void SetUp() override {
    if (fails_in("SetUp")) {
      FAIL() << "as it should";
    }
  }
  void TearDown() override {
    if (fails_in("TearDown")) {
      FAIL() << "as it should";
    }
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new OddEnvironment);

/// Sets the filter when GoogleTest has already selected tests.
class LateFilter : public testing::EmptyTestEventListener {
  void OnTestProgramStart(const testing::UnitTest& /*unit_test*/) override {
    if (const char* const filter = std::getenv("LATE_FILTER")) {
      GTEST_FLAG_SET(filter, filter);
    }
  }
};
const bool has_late_filter = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new LateFilter);
  return true;
}();

} // namespace
