// SPDX-License-Identifier: BSD-3-Clause
#include "insights/follow_up.hpp"

#include <gtest/gtest.h>

namespace gputest::insights {
namespace {

using Tasks = std::vector<std::vector<std::size_t>>;

std::vector<SuiteTest> suite_of(const std::vector<std::string>& names) {
  std::vector<SuiteTest> suite;
  for (const auto& name : names) {
    suite.emplace_back().name = name;
  }
  return suite;
}

} // namespace

TEST(FollowUpTasks, run_a_test_alone_that_ran_when_its_task_was_killed_and_the_others_together) {
  const auto suite = suite_of({"a", "b", "c", "d", "e", "f"});
  EXPECT_EQ(follow_up_tasks(suite, {1, 2, 3, 5}, {{{0, 1, 2, 3}, {2}}, {{4, 5}, {}}}), (Tasks{{2}, {1, 3}, {5}}));
  EXPECT_EQ(follow_up_tasks(suite, {1, 2}, {{{0, 1, 2}, {1, 2}}}), (Tasks{{1}, {2}})) << "each of several";
  EXPECT_EQ(follow_up_tasks(suite, {3}, {{{0, 1, 2, 3}, {2}}, {{2}, {}}, {{1, 3}, {}}}), (Tasks{{3}}))
      << "2 has a result by now";
}

TEST(FollowUpTasks, have_at_most_a_hundred_tests_alone) {
  std::vector<std::string> names;
  EndedTask killed;
  for (std::size_t test = 0; test < 150; ++test) {
    names.push_back(std::to_string(test));
    killed.tests.push_back(test);
    killed.begun.insert(test);
  }
  const auto tasks = follow_up_tasks(suite_of(names), killed.begun, {killed});
  ASSERT_EQ(tasks.size(), 101U);
  EXPECT_EQ(tasks[99], std::vector<std::size_t>{99});
  EXPECT_EQ(tasks[100].size(), 50U);
}

TEST(FollowUpTasks, keep_a_test_with_those_of_its_name_and_those_that_come_after_it) {
  auto suite = suite_of({"a", "b", "a", "d", "e"});
  suite[3].after = {0};
  suite[4].after = {3};
  EXPECT_EQ(follow_up_tasks(suite, {0, 1, 2, 3, 4}, {{{0, 1, 2, 3, 4}, {0}}}), (Tasks{{0, 2, 3, 4}, {1}}));
  EXPECT_EQ(follow_up_tasks(suite, {0, 1, 2, 4}, {{{0, 1, 2, 3, 4}, {0}}}), (Tasks{{0, 2}, {1, 4}}))
      << "3 has a result";
}

} // namespace gputest::insights
