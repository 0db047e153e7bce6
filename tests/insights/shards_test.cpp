// SPDX-License-Identifier: BSD-3-Clause
#include "insights/shards.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputest::insights {
namespace {

SuiteTest test(const std::string& name, double seconds, std::vector<std::size_t> after = {}) {
  SuiteTest planned;
  planned.name = name;
  planned.seconds = seconds;
  planned.after = std::move(after);
  return planned;
}

/// The shards that have each test, by its position.
std::vector<std::vector<std::size_t>> shards_of(const std::vector<SuiteTest>& tests, std::size_t count) {
  std::vector<std::vector<std::size_t>> all(tests.size());
  const auto shards = assign_shards(tests, count);
  EXPECT_EQ(shards.size(), count);
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    for (const auto test : shards[shard]) {
      all.at(test).push_back(shard);
    }
  }
  return all;
}

/// The shard of each test, which has to be one.
std::vector<std::size_t> shard_of(const std::vector<SuiteTest>& tests, std::size_t count) {
  std::vector<std::size_t> all;
  for (const auto& shards : shards_of(tests, count)) {
    EXPECT_EQ(shards.size(), 1U);
    all.push_back(shards.at(0));
  }
  return all;
}

std::vector<double> loads(const std::vector<SuiteTest>& tests, const std::vector<std::size_t>& shards,
                          std::size_t count) {
  std::vector<double> sums(count, 0);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    sums.at(shards[i]) += tests[i].seconds;
  }
  return sums;
}

TEST(Shards, have_about_the_same_time) {
  std::vector<SuiteTest> tests;
  for (int i = 0; i < 100; ++i) {
    tests.push_back(test(std::to_string(i), 0.1 + i % 7));
  }
  const auto sums = loads(tests, shard_of(tests, 4), 4);
  EXPECT_LT(*std::max_element(sums.begin(), sums.end()) - *std::min_element(sums.begin(), sums.end()), 1.0);
}

TEST(Shards, keep_tests_together_that_come_after_one_another) {
  const std::vector tests{test("set_up", 1), test("a", 5, {0}), test("b", 5, {0}), test("other", 1),
                          test("clean_up", 1, {1, 2})};
  const auto shards = shard_of(tests, 2);
  EXPECT_EQ(shards[1], shards[0]);
  EXPECT_EQ(shards[2], shards[0]);
  EXPECT_EQ(shards[4], shards[0]);
  EXPECT_NE(shards[3], shards[0]);
}

TEST(Shards, have_what_cleans_up_after_their_tests_and_split_these) {
  std::vector tests{test("a", 1), test("b", 1), test("ends", 1, {0, 1}), test("other", 9)};
  tests[2].runs_with = {0, 1};
  const auto shards = shards_of(tests, 3);
  ASSERT_EQ(shards[0].size(), 1U);
  ASSERT_EQ(shards[1].size(), 1U);
  EXPECT_EQ(shards[3].size(), 1U);
  EXPECT_NE(shards[0], shards[1]);
  std::vector both{shards[0].at(0), shards[1].at(0)};
  std::sort(both.begin(), both.end());
  EXPECT_EQ(shards[2], both);
}

TEST(Shards, have_what_cleans_up_after_a_clean_up) {
  std::vector tests{test("last", 1, {1}), test("ends", 1, {2, 3}), test("a", 1), test("b", 1)};
  tests[0].runs_with = {1};
  tests[1].runs_with = {2, 3};
  const auto shards = shards_of(tests, 2);
  EXPECT_EQ(shards[0].size(), 2U);
  EXPECT_EQ(shards[1].size(), 2U);
}

TEST(Shards, keep_together_what_a_clean_up_comes_after_for_another_reason) {
  std::vector tests{test("a", 1), test("b", 1), test("ends", 1, {0, 1, 3}), test("other", 9)};
  tests[2].runs_with = {0, 1};
  const auto shards = shards_of(tests, 4);
  EXPECT_NE(shards[0], shards[1]);
  EXPECT_EQ(std::count(shards[2].begin(), shards[2].end(), shards[3].at(0)), 1);
}

TEST(Shards, keep_tests_of_one_name_together) {
  const std::vector tests{test("same", 3), test("longer", 5), test("same", 3)};
  const auto shards = shard_of(tests, 3);
  EXPECT_EQ(shards[0], shards[2]);
  EXPECT_NE(shards[0], shards[1]);
}

TEST(Shards, spread_tests_without_a_time) {
  const std::vector tests{test("a", 0), test("b", 0), test("c", 0), test("d", 0)};
  const auto shards = shard_of(tests, 2);
  EXPECT_EQ(std::count(shards.begin(), shards.end(), 0U), 2);
}

TEST(Shards, may_be_more_than_tests) {
  const std::vector tests{test("a", 1), test("b", 1)};
  const auto shards = shard_of(tests, 5);
  EXPECT_NE(shards[0], shards[1]);
  EXPECT_LT(std::max(shards[0], shards[1]), 5U);
}

} // namespace
} // namespace gputest::insights
