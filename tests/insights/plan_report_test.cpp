// SPDX-License-Identifier: BSD-3-Clause
#include "insights/plan_report.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>

namespace gputest::insights {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

PlannedTest test_of(const std::string& name, double seconds) {
  PlannedTest test;
  test.name = name;
  test.time = PlannedSeconds{seconds};
  return test;
}

/// Three tests, of which one has no time and another one would not run, on three devices.
PlanReport three_tests() {
  PlanReport report;
  report.suite.tests = {test_of("sort", 4), test_of("join", 2), test_of("large", 3)};
  report.suite.measured = 2;
  report.suite.assumed_time = PlannedSeconds{3};
  report.times = "the logs";
  report.machine.jobs = 8;
  report.machine.devices = {{{"1", "H200", 140_GiB, false}, {}, 139_GiB},
                            {{"2", "A100", 80_GiB, false}, {}, 79_GiB},
                            {{"3", "H200", 140_GiB, false}, {}, 139_GiB}};
  report.plan.time = PlannedSeconds{4.5};
  report.plan.runs = {{"", PlannedSeconds{0}, PlannedSeconds{4.5}, 0b101},
                      {"", PlannedSeconds{1}, PlannedSeconds{3.25}, 0b010},
                      {"excluded", {}, {}, 0}};
  report.plan.bounds = {{PlanBound::Kind::longest, PlannedSeconds{4}, "sort"},
                        {PlanBound::Kind::jobs, PlannedSeconds{0.75}, ""},
                        {PlanBound::Kind::memory, PlannedSeconds{0.5}, ""},
                        {PlanBound::Kind::contexts, PlannedSeconds{0.38}, ""}};
  return report;
}

} // namespace

TEST(PlanReport, is_a_text_for_people) {
  EXPECT_EQ(to_text(three_tests()),
            "3 tests at -j8, 1 x A100 with 79 GiB for tests, 2 x H200 with 139 GiB for tests\n"
            "1 test has no time in the logs; the mean of the others, 3.0 s, is assumed.\n"
            "\n"
            "It would take 4.5 s.\n"
            "Another order of the tests may make it shorter, but not shorter than these, if they take so long:\n"
            "  4.0 s  the longest test: sort\n"
            "  0.8 s  the work, on 8 of ctest's jobs\n"
            "  0.5 s  GPU memory: bytes times seconds, on all GPUs\n"
            "  0.4 s  starting CUDA, one process after another\n"
            "\n"
            "1 test would not run (excluded):\n"
            "  large\n");
}

TEST(PlanReport, says_that_no_order_is_shorter_only_if_that_is_known) {
  const std::string claim = "No order of the tests makes it shorter";
  auto report = three_tests();
  report.suite.measured = 3;
  EXPECT_THAT(to_text(report), Not(HasSubstr(claim))) << "4.5 s, and a bound of 4 s";
  report.plan.time = PlannedSeconds{4};
  EXPECT_THAT(to_text(report), HasSubstr(claim));
  report.suite.measured = 2;
  EXPECT_THAT(to_text(report), Not(HasSubstr(claim))) << "a time is assumed";
}

TEST(PlanReport, says_of_how_many_tests_it_has_no_time) {
  auto report = three_tests();
  report.suite.measured = 1;
  EXPECT_THAT(to_text(report), HasSubstr("\n2 tests have no time in the logs; the mean"));
  report.suite.measured = 0;
  EXPECT_THAT(to_text(report),
              HasSubstr("\nNo test has a time in the logs; 1 s each is assumed. Run the suite once with ctest.\n"));
  report.suite.measured = 3;
  EXPECT_THAT(to_text(report), Not(HasSubstr("the logs")));
}

TEST(PlanReport, says_if_there_is_no_gpu) {
  auto report = three_tests();
  report.machine.devices.clear();
  EXPECT_THAT(to_text(report), StartsWith("3 tests at -j8, no GPU\n"));
}

TEST(PlanReport, is_an_object_with_units_in_its_keys_for_machines) {
  const auto report = three_tests();
  auto expected = nlohmann::ordered_json::parse(R"({
    "version": 1, "jobs": 8, "tests": 3, "measured": 2, "predicted_s": 4.5,
    "bounds": [{"kind": "longest_test", "s": 4.0, "test": "sort"}, {"kind": "jobs", "s": 0.75, "test": ""},
               {"kind": "memory", "s": 0.5, "test": ""}, {"kind": "contexts", "s": 0.38, "test": ""}],
    "runs": [{"name": "sort", "why_not": "", "start_s": 0.0, "end_s": 4.5, "devices": [0, 2]},
             {"name": "join", "why_not": "", "start_s": 1.0, "end_s": 3.25, "devices": [1]},
             {"name": "large", "why_not": "excluded", "start_s": 0.0, "end_s": 0.0, "devices": []}]
  })");
  EXPECT_EQ(to_json(report).dump(2), expected.dump(2));
}

TEST(PlanReport, of_shards_has_a_row_and_an_object_for_each) {
  const auto report = three_tests();
  const std::vector<ShardReport> shards{{{0}, PlannedSeconds{4}, PlannedSeconds{4.5}, 0},
                                        {{1, 2}, PlannedSeconds{2}, PlannedSeconds{2.25}, 1}};
  const auto print = fingerprint(report.suite, shards);
  EXPECT_THAT(to_text(report, shards), StartsWith("3 tests at -j8, "));
  auto untimed = report;
  untimed.times.clear();
  EXPECT_THAT(to_text(untimed, shards), HasSubstr("\nAll tests count alike. For shards of equal time write --times "));
  EXPECT_THAT(to_text(report, shards), HasSubstr("\n\nSHARD  TESTS  WOULD NOT RUN   WORK  WOULD TAKE\n"
                                                 "    1      1              0  4.0 s       4.5 s\n"
                                                 "    2      2              1  2.0 s       2.2 s\n"
                                                 "\nfingerprint of the split: " +
                                                 print + "\n"));
  auto expected = nlohmann::ordered_json::parse(R"({
    "version": 1, "fingerprint": "",
    "shards": [{"shard": 1, "work_s": 4.0, "predicted_s": 4.5, "not_run": 0, "tests": ["sort"]},
               {"shard": 2, "work_s": 2.0, "predicted_s": 2.25, "not_run": 1, "tests": ["join", "large"]}]
  })");
  expected["fingerprint"] = print;
  EXPECT_EQ(to_json(report, shards).dump(2), expected.dump(2));
}

TEST(PlanReport, has_one_fingerprint_of_one_split_on_every_machine) {
  CtestSuite suite;
  suite.tests = {test_of("a", 0.5), test_of("b", 2)};
  const auto print_of = [&](const std::vector<std::vector<std::size_t>>& tests) {
    std::vector<ShardReport> shards;
    for (const auto& of_shard : tests) {
      shards.push_back({of_shard, {}, {}, 0});
    }
    return fingerprint(suite, shards);
  };
  const auto print = print_of({{0}, {1}});
  EXPECT_NE(print_of({{1}, {0}}), print);
  EXPECT_NE(print_of({{0}, {1}, {}}), print);
  suite.tests[0].time = PlannedSeconds{1};
  EXPECT_EQ(print_of({{0}, {1}}), print);
  suite.tests[0].name = "c";
  EXPECT_NE(print_of({{0}, {1}}), print);
}

} // namespace gputest::insights
