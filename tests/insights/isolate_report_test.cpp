// SPDX-License-Identifier: BSD-3-Clause
#include "insights/isolate_report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace gputest::insights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(IsolateReport, has_a_command_only_where_one_is_known) {
  Comparison compared;
  compared.runs = {{"a process each", {{"same", "passed"}, {"spoiled", "passed"}, {"slow", "passed"}}, 1},
                   {"workers", {{"same", "passed"}, {"spoiled", "failed"}, {"slow", "failed"}, {"new", "passed"}}, 1}};
  compared.differ = tests_that_differ(compared.runs);
  EXPECT_THAT(compared.differ, ElementsAre("new", "slow", "spoiled"));
  compared.spoiled["spoiled"] = "show it";
  const auto json = to_json(compared);
  EXPECT_EQ(json["differ"][0]["results"], nlohmann::ordered_json({"not run", "passed"}));
  EXPECT_EQ(json["differ"][1]["command"], "");
  EXPECT_EQ(json["differ"][2]["command"], "show it");
  const auto text = to_text(compared);
  EXPECT_THAT(text, HasSubstr("spoiled fails after other cases in one process. To see it:\n  show it\n"));
  EXPECT_THAT(text, Not(HasSubstr("slow fails")));
}

/// Two runs with one test of each result, and what differs between them.
Comparison two_runs() {
  Comparison compared;
  compared.runs = {{"a process each", {{"a", "passed"}, {"b", "passed"}, {"c", "failed"}, {"d", "skipped"}}, 12.34},
                   {"workers", {{"a", "passed"}, {"b", "failed"}, {"c", "passed"}}, 1.5}};
  compared.differ = tests_that_differ(compared.runs);
  compared.spoiled["b"] = "show b";
  compared.in_workers = {"b", "c", "d"};
  compared.dependent["b"] = "show b alone";
  compared.dependent["c"] = "show c";
  return compared;
}

TEST(IsolateReport, is_two_tables_and_commands_for_people) {
  EXPECT_EQ(to_text(two_runs()),
            "RUN             PASSED  FAILED  SKIPPED  SECONDS\n"
            "a process each       2       1        1     12.3\n"
            "workers              2       1        0      1.5\n"
            "\n"
            "RESULTS DIFFER  a process each  workers\n"
            "b               passed          failed\n"
            "c               failed          passed\n"
            "d               skipped         not run\n"
            "\n"
            "b fails after other cases in one process. To see it:\n  show b\n"
            "\n"
            "b depends on other cases: it fails in a process of its own, also when repeated, and passes after them. "
            "To see it:\n  show b alone\n"
            "\n"
            "c depends on other cases: it fails in a process of its own, also when repeated, and passes after them. "
            "To see it:\n  show c\n");
}

TEST(IsolateReport, is_an_object_for_machines) {
  const auto expected = nlohmann::ordered_json::parse(R"({
    "version": 1,
    "runs": [{"name": "a process each", "passed": 2, "failed": 1, "skipped": 1, "s": 12.34},
             {"name": "workers", "passed": 2, "failed": 1, "skipped": 0, "s": 1.5}],
    "compared": 2,
    "differ": [{"name": "b", "results": ["passed", "failed"], "command": "show b"},
               {"name": "c", "results": ["failed", "passed"], "command": "show c"},
               {"name": "d", "results": ["skipped", "not run"], "command": ""}]
  })");
  EXPECT_EQ(to_json(two_runs()).dump(2), expected.dump(2));
}

TEST(IsolateReport, says_how_many_tests_run_in_workers_where_no_result_differs) {
  Comparison compared;
  compared.in_workers = {"a", "b", "c"};
  compared.runs = {{"a process each", {{"a", "passed"}}, 1}, {"workers", {{"a", "passed"}}, 2}};
  EXPECT_TRUE(tests_that_differ(compared.runs).empty());
  EXPECT_EQ(to_text(compared),
            "RUN             PASSED  FAILED  SKIPPED  SECONDS\n"
            "a process each       1       0        0      1.0\n"
            "workers              1       0        0      2.0\n"
            "\n"
            "No result differs; 3 tests run in workers, of which 2 were skipped in every run and not "
            "compared.\n");
}

} // namespace
} // namespace gputest::insights
