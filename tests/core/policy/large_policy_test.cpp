// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/large_policy.hpp"

#include <gtest/gtest.h>

namespace gputest::policy {
namespace {

TEST(LargePolicy, decides_by_policy_and_run_mode) {
  for (const auto mode : {RunMode::direct, RunMode::serial, RunMode::unknown, RunMode::parallel}) {
    const int number = static_cast<int>(mode);
    EXPECT_EQ(decide_large(LargePolicy::exclude, mode),
              mode == RunMode::parallel ? LargeDecision::exclude : LargeDecision::only_if_free)
        << number;
    EXPECT_EQ(decide_large(LargePolicy::serial, mode), LargeDecision::wait) << number;
    EXPECT_EQ(decide_large(LargePolicy::wait, mode), LargeDecision::wait) << number;
  }
}

TEST(LargePolicy, names_the_command_that_runs_the_test) {
  OneTest test;
  test.command = {"/build/solver_test", "--gtest_filter=*"};
  EXPECT_EQ(command_for_large(test), "/build/solver_test '--gtest_filter=*'");
  test.filter = "--gtest_filter=Big.Case/0";
  EXPECT_EQ(command_for_large(test), "/build/solver_test '--gtest_filter=*' --gtest_filter=Big.Case/0");
  test.ctest_name = "solver";
  EXPECT_EQ(command_for_large(test), "ctest -j1 -R '^solver$'");
  test.ctest_options = {"--test-dir", "/my build", "-C", "Debug"};
  EXPECT_EQ(command_for_large(test), "ctest --test-dir '/my build' -C Debug -j1 -R '^solver$'");
}

TEST(LargePolicy, names_a_test_whose_name_looks_like_a_regular_expression_exactly) {
  OneTest test;
  test.ctest_name = "a.b+c(d)[e]*?|^$\\";
  EXPECT_EQ(command_for_large(test), "ctest -j1 -R '^a\\.b\\+c\\(d\\)\\[e\\]\\*\\?\\|\\^\\$\\\\$'");
}

} // namespace
} // namespace gputest::policy
