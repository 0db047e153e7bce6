// SPDX-License-Identifier: BSD-3-Clause
#include "insights/github_report.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gputest::insights {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PlaceOfFailure, is_that_of_the_first_failed_assertion_of_each_framework) {
  struct Row {
    std::string output;
    std::string file;
    std::uint64_t line;
  };
  const std::vector<Row> rows{
      {"[ RUN      ] A.b\n/src/a_test.cpp:12: Failure\nExpected x\n/src/a_test.cpp:20: Failure\n", "/src/a_test.cpp",
       12},
      {"/src/a b.cpp\n/src/sort.cpp:7: FAILED:\n  CHECK( a )\n", "/src/sort.cpp", 7},
      {"/src/d.cpp:9: ERROR: CHECK( a == b ) is NOT correct!\n", "/src/d.cpp", 9},
      {"t/test_a.py:3: AssertionError\n", "t/test_a.py", 3},
      {"prog: /src/m.cu:41: int main(): Assertion `x' failed.\n", "/src/m.cu", 41},
      {"at 12:30: Failure is near\nwarning: a.cpp:3: not that\n", "", 0},
      {"", "", 0},
  };
  for (const auto& row : rows) {
    const auto place = place_of_failure(row.output);
    EXPECT_EQ(place.file, row.file) << row.output;
    EXPECT_EQ(place.line, row.line) << row.output;
  }
}

TEST(GithubAnnotations, end_no_command_early) {
  EXPECT_EQ(github_annotations({{"A.b", "100% wrong\nsecond", "", {"src/a.cpp", 12}},
                                {"odd:name,x", "", "", {"/elsewhere/b.cpp", 0}},
                                {"::stop-commands::x", "why", "", {}}}),
            "::error file=src/a.cpp,line=12,title=A.b::100%25 wrong%0Asecond\n"
            "::error file=/elsewhere/b.cpp,title=odd%3Aname%2Cx::failed\n"
            "::error title=%3A%3Astop-commands%3A%3Ax::why\n");
}

TEST(GithubSummary, has_the_failed_tests_with_their_outputs_and_notes) {
  const auto text =
      github_summary("3 tests: 1 failed", {{"A<b>|c", "two\nlines", "a\n</pre>", {"a.cpp", 3}}}, {"a note"});
  EXPECT_THAT(text, HasSubstr("### 3 tests: 1 failed\n"));
  EXPECT_THAT(text, HasSubstr("| A&lt;b&gt;&#124;c | two<br>lines | a.cpp:3 |\n"));
  EXPECT_THAT(text, HasSubstr("<pre>a&#10;&lt;/pre&gt;</pre>"));
  EXPECT_THAT(text, HasSubstr("\n- a note\n"));
  EXPECT_THAT(github_summary("all passed", {}, {}), Not(HasSubstr("|")));
}

TEST(GithubSummary, stays_below_the_limit_of_github_however_many_tests_fail) {
  const std::vector<FailedTest> failed(5000, {"name", "why", std::string(4096, 'x'), {}});
  const auto text = github_summary("many", failed, {});
  EXPECT_LT(text.size(), 1U << 20U);
  EXPECT_THAT(text, HasSubstr("4000 more failed."));
}

} // namespace
} // namespace gputest::insights
