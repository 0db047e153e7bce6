// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_suite.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gputest::insights {
namespace {

using nlohmann::json;

json list(const std::vector<std::string>& values) { return values; }

json property(const std::string& name, const json& value) { return {{"name", name}, {"value", value}}; }

json entry(const std::string& name, const std::vector<json>& properties = {}) {
  return {{"name", name}, {"command", {"t"}}, {"properties", properties}};
}

CtestSuite suite_of(const std::vector<json>& entries, const std::map<std::string, double>& times = {}) {
  return parse_ctest_suite(json{{"kind", "ctestInfo"}, {"tests", entries}}.dump(), times);
}

TEST(CtestSuite, what_is_disabled_or_large_and_excluded_runs_nowhere) {
  const auto gpu = property("LABELS", list({"x", "gpu"}));
  const auto large = property("ENVIRONMENT", list({"GPUTEST_ENTRY=ctest", "GPUTEST_MEMORY=large", "ALONE"}));
  const auto runs_nowhere = [](const std::vector<json>& properties) {
    return suite_of({entry("t", properties)}).tests[0].runs_nowhere;
  };
  EXPECT_TRUE(runs_nowhere({gpu, large}));
  EXPECT_TRUE(runs_nowhere({property("LABELS", "gpu"), large})) << "a property of one value may be a text";
  EXPECT_TRUE(runs_nowhere({property("DISABLED", true)}));
  EXPECT_FALSE(runs_nowhere({gpu, large, property("RUN_SERIAL", true)}));
  EXPECT_FALSE(runs_nowhere({large})) << "no label";
  EXPECT_FALSE(runs_nowhere({gpu, property("ENVIRONMENT", list({"GPUTEST_MEMORY=large"}))}));
  EXPECT_FALSE(runs_nowhere({property("DISABLED", false), property("RUN_SERIAL", "ON")}));
  EXPECT_FALSE(runs_nowhere(
      {gpu, large,
       property("ENVIRONMENT_MODIFICATION", list({"P=path_list_append:/x=set:y", "GPUTEST_MEMORY=set:1GiB"}))}))
      << "what modifies the environment is applied after it";
}

TEST(CtestSuite, a_test_without_a_time_has_the_mean_of_the_others) {
  const auto suite = suite_of({entry("a"), entry("b"), entry("new")}, {{"a", 1}, {"b", 3}, {"x", 9}});
  EXPECT_EQ(suite.measured, 2U);
  EXPECT_DOUBLE_EQ(suite.tests[1].seconds, 3);
  EXPECT_DOUBLE_EQ(suite.tests[2].seconds, 2);
  EXPECT_DOUBLE_EQ(suite.assumed_seconds, 2);
  EXPECT_DOUBLE_EQ(suite_of({entry("a")}).tests[0].seconds, 1) << "or a second";
}

TEST(CtestSuite, no_test_comes_after_itself) {
  const auto suite = suite_of(
      {entry("t", {property("DEPENDS", list({"t"})), property("FIXTURES_SETUP", list({"db"})),
                   property("FIXTURES_REQUIRED", list({"db"}))}),
       entry("ends", {property("FIXTURES_REQUIRED", list({"x"})), property("FIXTURES_CLEANUP", list({"x"}))})});
  EXPECT_TRUE(suite.tests[0].after.empty());
  EXPECT_TRUE(suite.tests[1].after.empty());
  EXPECT_TRUE(suite.tests[1].runs_with.empty());
}

TEST(CtestSuite, dependencies_and_fixtures_are_an_order) {
  const auto suite = suite_of({entry("clean", {property("FIXTURES_CLEANUP", list({"db"}))}),
                               entry("uses", {property("FIXTURES_REQUIRED", list({"db"}))}),
                               entry("sets_up", {property("FIXTURES_SETUP", list({"db"}))}),
                               entry("after", {property("DEPENDS", list({"uses", "unknown"}))})});
  EXPECT_EQ(suite.tests[0].after, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(suite.tests[1].after, (std::vector<std::size_t>{2}));
  EXPECT_TRUE(suite.tests[2].after.empty());
  EXPECT_EQ(suite.tests[3].after, (std::vector<std::size_t>{1}));
}

TEST(CtestSuite, each_of_several_fixtures_and_tests_that_set_one_up_is_in_the_order) {
  const auto suite = suite_of({entry("both", {property("FIXTURES_SETUP", list({"a", "b"}))}),
                               entry("also", {property("FIXTURES_SETUP", list({"b"}))}),
                               entry("uses", {property("FIXTURES_REQUIRED", list({"x", "b"}))}),
                               entry("clean", {property("FIXTURES_CLEANUP", list({"a", "b"}))})});
  EXPECT_EQ(suite.tests[2].after, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(suite.tests[3].after, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(CtestSuite, a_clean_up_of_what_nothing_sets_up_runs_with_the_tests_of_its_fixture) {
  // ctest writes into DEPENDS what it makes of fixtures.
  const auto suite = suite_of(
      {entry("uses", {property("FIXTURES_REQUIRED", list({"workers"}))}),
       entry("sets_up", {property("FIXTURES_SETUP", list({"db"}))}),
       entry("uses_db", {property("FIXTURES_REQUIRED", list({"db"}))}), entry("other"),
       entry("ends", {property("FIXTURES_CLEANUP", list({"workers"})), property("DEPENDS", list({"uses", "other"}))}),
       entry("clean", {property("FIXTURES_CLEANUP", list({"db"})), property("DEPENDS", list({"uses_db"}))})});
  EXPECT_EQ(suite.tests[4].after, (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(suite.tests[4].runs_with, (std::vector<std::size_t>{0}));
  EXPECT_EQ(suite.tests[5].after, (std::vector<std::size_t>{1, 2}));
  EXPECT_TRUE(suite.tests[5].runs_with.empty());
}

TEST(CtestSuite, a_wrong_variable_names_its_test) {
  const auto message = tests::message_of<InvalidSetting>([] {
    static_cast<void>(
        suite_of({entry("t x", {property("LABELS", list({"gpu"})),
                                property("ENVIRONMENT", list({"GPUTEST_ENTRY=ctest", "GPUTEST_MEMORY=3PB"}))})}));
  });
  EXPECT_EQ(message.find("the test t x: GPUTEST_MEMORY '3PB'"), 0U) << message;
}

TEST(CtestSuite, another_text_is_an_error) {
  for (const std::string text : {"", "{}", "[]", "{\"tests\": 3}", "{\"tests\": [{}]}", "{\"tests\": [3]}"}) {
    EXPECT_THROW(static_cast<void>(parse_ctest_suite(text)), Error) << text;
  }
}

} // namespace
} // namespace gputest::insights
