// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/large_policy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputest::policy {
namespace {

TEST(LargePolicy, decides_by_policy_and_run_mode) {
  struct Case {
    LargePolicy policy;
    RunMode mode;
    LargeDecision expected;
  };
  const std::vector<Case> cases{
      {LargePolicy::exclude, RunMode::direct, LargeDecision::only_if_free},
      {LargePolicy::exclude, RunMode::serial, LargeDecision::only_if_free},
      {LargePolicy::exclude, RunMode::unknown, LargeDecision::only_if_free},
      {LargePolicy::exclude, RunMode::parallel, LargeDecision::exclude},
      {LargePolicy::serial, RunMode::direct, LargeDecision::wait},
      {LargePolicy::serial, RunMode::serial, LargeDecision::wait},
      {LargePolicy::serial, RunMode::unknown, LargeDecision::wait},
      {LargePolicy::serial, RunMode::parallel, LargeDecision::wait},
      {LargePolicy::wait, RunMode::direct, LargeDecision::wait},
      {LargePolicy::wait, RunMode::serial, LargeDecision::wait},
      {LargePolicy::wait, RunMode::unknown, LargeDecision::wait},
      {LargePolicy::wait, RunMode::parallel, LargeDecision::wait},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(decide_large(c.policy, c.mode), c.expected)
        << to_string(c.policy) << " in run mode " << static_cast<int>(c.mode);
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
