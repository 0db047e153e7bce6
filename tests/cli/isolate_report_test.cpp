// SPDX-License-Identifier: BSD-3-Clause
#include "cli/isolate_report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace gputest::cli {
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
  const auto text = to_text(compared, 4);
  EXPECT_THAT(text, HasSubstr("spoiled fails after other cases in one process. To see it:\n  show it\n"));
  EXPECT_THAT(text, Not(HasSubstr("slow fails")));
}

} // namespace
} // namespace gputest::cli
