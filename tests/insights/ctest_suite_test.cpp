// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_suite.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gputest::insights {
namespace {

using namespace literals;
using nlohmann::json;

json list(const std::vector<std::string>& values) { return values; }

json property(const std::string& name, const json& value) { return {{"name", name}, {"value", value}}; }

json entry(const std::string& name, const std::vector<json>& properties = {}) {
  return {{"name", name}, {"command", {"t"}}, {"properties", properties}};
}

json gpu_entry(const std::string& name, const std::string& memory) {
  return entry(name,
               {property("LABELS", list({"gpu"})),
                property("ENVIRONMENT_MODIFICATION",
                         list({"PATH=path_list_append:/x=set:y", "GPUTEST_ENTRY=set:ctest",
                               "GPUTEST_MEMORY=set:" + memory, "GPUTEST_GPUS=set:2", "GPUTEST_LARGE=set:wait"}))});
}

CtestSuite suite_of(const std::vector<json>& entries, const MeasuredEntries& measured = {},
                    const CtestCostData& costs = {}) {
  return parse_ctest_suite(json{{"kind", "ctestInfo"}, {"tests", entries}}.dump(), measured, costs);
}

PlannedSeconds seconds(double value) { return PlannedSeconds{value}; }

TEST(CtestSuite, an_entry_of_gputest_has_its_request) {
  const auto suite = suite_of({gpu_entry("t", "3GiB"), entry("host")});
  ASSERT_TRUE(suite.tests[0].request);
  EXPECT_EQ(suite.tests[0].request->bytes, 3_GiB);
  EXPECT_EQ(suite.tests[0].request->gpus, 2);
  EXPECT_EQ(suite.tests[0].large, LargePolicy::wait);
  EXPECT_FALSE(suite.tests[1].request);
}

TEST(CtestSuite, only_a_gpu_test_of_a_ctest_entry_asks_for_memory) {
  const auto gpu = property("LABELS", list({"x", "gpu"}));
  const auto environment = property("ENVIRONMENT", list({"GPUTEST_ENTRY=ctest", "GPUTEST_MEMORY=1GiB", "ALONE"}));
  EXPECT_TRUE(suite_of({entry("t", {gpu, environment})}).tests[0].request);
  EXPECT_FALSE(suite_of({entry("t", {environment})}).tests[0].request) << "no label";
  EXPECT_FALSE(suite_of({entry("t", {gpu, property("ENVIRONMENT", list({"GPUTEST_MEMORY=1GiB"}))})}).tests[0].request);
}

TEST(CtestSuite, a_property_of_one_value_may_be_a_text) {
  const auto suite = suite_of({entry("a"), entry("b", {property("DEPENDS", "a"), property("RESOURCE_LOCK", "l")})});
  EXPECT_EQ(suite.tests[1].after, (std::vector<std::size_t>{0}));
  EXPECT_EQ(suite.tests[1].locks, (std::vector<std::string>{"l"}));
}

TEST(CtestSuite, what_modifies_the_environment_is_applied_after_it) {
  const auto gpu = property("LABELS", list({"gpu"}));
  const auto environment = property("ENVIRONMENT", list({"GPUTEST_ENTRY=ctest", "GPUTEST_MEMORY=1GiB"}));
  const auto modification = property("ENVIRONMENT_MODIFICATION", list({"GPUTEST_MEMORY=set:3GiB"}));
  EXPECT_EQ(suite_of({entry("t", {gpu, environment})}).tests[0].request->bytes, 1_GiB);
  EXPECT_EQ(suite_of({entry("t", {gpu, environment, modification})}).tests[0].request->bytes, 3_GiB);
}

TEST(CtestSuite, what_a_test_was_admitted_with_can_only_raise_the_memory_that_cmake_says) {
  auto needs = gpu_entry("t", "9GiB");
  needs["properties"].push_back(property("ENVIRONMENT", list({"GPUTEST_REQUIRES=sm_90"})));
  const auto request_with = [&](std::optional<Request> logged, const std::string& name = "t") {
    MeasuredEntry entry;
    entry.request = std::move(logged);
    if (entry.request) {
      entry.request->gpus = 2;
    }
    const auto request = suite_of({needs}, {{name, entry}}).tests[0].request.value();
    EXPECT_EQ(request.capabilities, suite_of({needs}).tests[0].request->capabilities);
    return request;
  };
  EXPECT_EQ(request_with(Request{12_GiB}).bytes, 12_GiB);
  EXPECT_EQ(request_with(Request{5_GiB}).bytes, 9_GiB);
  EXPECT_EQ(request_with(Request{12_GiB}, "another").bytes, 9_GiB);
  EXPECT_EQ(request_with(std::nullopt).bytes, 9_GiB) << "it was skipped";
}

TEST(CtestSuite, ctests_own_time_is_for_what_is_in_no_log_and_has_no_cost) {
  const auto suite =
      suite_of({entry("logged"), entry("skipped"), entry("host"), entry("with_cost", {property("COST", 50)})},
               {{"logged", MeasuredEntry{seconds(1)}}, {"skipped", {}}},
               {{{"logged", 7}, {"skipped", 7}, {"host", 3}, {"with_cost", 50}}, {}});
  EXPECT_EQ(suite.measured, 2U);
  EXPECT_DOUBLE_EQ(suite.tests[0].time.count(), 1);
  EXPECT_DOUBLE_EQ(suite.tests[1].time.count(), 2) << "the mean";
  EXPECT_DOUBLE_EQ(suite.tests[2].time.count(), 3);
  EXPECT_DOUBLE_EQ(suite.tests[3].time.count(), 2) << "the mean";
}

TEST(CtestSuite, knows_what_runs_in_a_worker) {
  const auto with = [](const std::vector<std::string>& command) {
    auto test = entry("t");
    test["command"] = command;
    return suite_of({test}).tests[0].in_worker;
  };
  EXPECT_TRUE(with({"/bin/gputest-entry", "suite", "--gtest_filter=A.a"}));
  EXPECT_FALSE(with({"/bin/gputest-entry", "--end", "suite"}));
  EXPECT_FALSE(with({"/bin/gputest-entry", "--alone=why", "suite"}));
  EXPECT_FALSE(with({"/bin/suite", "--gtest_filter=A.a"}));
}

TEST(CtestSuite, a_test_without_a_time_has_the_mean_of_the_others) {
  const auto suite = suite_of({entry("a"), entry("b"), entry("new")},
                              {{"a", MeasuredEntry{seconds(1)}}, {"b", MeasuredEntry{seconds(3)}}, {"x", {}}});
  EXPECT_EQ(suite.measured, 2U);
  EXPECT_DOUBLE_EQ(suite.tests[1].time.count(), 3);
  EXPECT_DOUBLE_EQ(suite.tests[2].time.count(), 2);
  EXPECT_DOUBLE_EQ(suite.assumed_time.count(), 2);
  const auto skipped = suite_of({entry("a"), entry("b")}, {{"a", {}}});
  EXPECT_EQ(skipped.measured, 0U);
  EXPECT_DOUBLE_EQ(skipped.assumed_time.count(), 1) << "or a second";
  EXPECT_DOUBLE_EQ(skipped.tests[0].time.count(), 1);
  EXPECT_DOUBLE_EQ(skipped.tests[1].time.count(), 1);
}

TEST(CtestSuite, properties_of_ctest_are_kept) {
  const auto suite =
      suite_of({entry("t", {property("COST", 7.0), property("PROCESSORS", 4), property("RUN_SERIAL", true),
                            property("DISABLED", true), property("RESOURCE_LOCK", list({"a", "b"}))})});
  const auto& test = suite.tests[0];
  EXPECT_EQ(test.cost, 7.0);
  EXPECT_EQ(test.processors, 4U);
  EXPECT_TRUE(test.serial);
  EXPECT_TRUE(test.disabled);
  EXPECT_EQ(test.locks, (std::vector<std::string>{"a", "b"}));
}

TEST(CtestSuite, properties_of_another_kind_or_size_are_those_of_a_plain_test) {
  const auto suite = suite_of({entry("t", {property("COST", "much"), property("PROCESSORS", 0),
                                           property("RUN_SERIAL", "ON"), property("DISABLED", false)}),
                               entry("many", {property("PROCESSORS", 1e9)})});
  EXPECT_FALSE(suite.tests[0].cost);
  EXPECT_EQ(suite.tests[0].processors, 1U);
  EXPECT_FALSE(suite.tests[0].serial);
  EXPECT_FALSE(suite.tests[0].disabled);
  EXPECT_EQ(suite.tests[1].processors, 65536U);
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
  const auto message =
      tests::message_of<InvalidSetting>([] { static_cast<void>(suite_of({gpu_entry("t x", "3PB")})); });
  EXPECT_EQ(message.find("the test t x: GPUTEST_MEMORY '3PB'"), 0U) << message;
}

TEST(CtestSuite, another_text_is_an_error) {
  for (const std::string text : {"", "{}", "[]", "{\"tests\": 3}", "{\"tests\": [{}]}", "{\"tests\": [3]}",
                                 R"({"tests": [{"name": "t", "command": 3}]})"}) {
    EXPECT_THROW(static_cast<void>(parse_ctest_suite(text)), Error) << text;
  }
}

} // namespace
} // namespace gputest::insights
