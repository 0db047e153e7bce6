// SPDX-License-Identifier: BSD-3-Clause
#include "cli/verdict.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gputest::cli {

namespace {

using testing::HasSubstr;

struct Row {
  std::string report;
  int command;
  int verdict;
  bool meant = true;
};

TEST(Verdict, is_the_exit_code_of_a_command_that_reports_nothing) {
  for (const int code : {0, 1, 3, 76, 78, 255}) {
    const auto verdict = judge("", code);
    EXPECT_EQ(verdict.exit_code, code);
    EXPECT_EQ(verdict.problem, "");
    EXPECT_TRUE(verdict.meant_by_the_test);
  }
}

TEST(Verdict, gives_the_reason_of_a_failure_as_it_was_reported) {
  EXPECT_EQ(judge("begun 7 t\nrefused 7 no GPU\ncomplete 7 \n", 0).problem,
            "gputest has failed a test, although the command ended with 0: no GPU");
}

TEST(Verdict, believes_77_only_of_processes_that_gputest_skipped) {
  const std::vector<Row> rows{
      {"", 77, 1},
      {"begun 7 t\nskipped 7 \n", 77, 77},
      {"skipped 7\n", 77, 77},
      {"begun 7 t\nbegun 8 t\nskipped 8 \nskipped 7 \n", 77, 77},
      {"begun 7 t\ncomplete 7 \nbegun 8 t\nskipped 8 \n", 77, 77},
      {"begun 7 t\nskipped 7 \nrefused 8 no GPU\n", 77, 1},
      {"begun 7 t\ncomplete 7 \n", 77, 1},
      {"begun 7 t\nnothing_ran 7 \n", 77, 1},
      {"begun 7 t\nskipped 7 \nbegun 8 t\nnothing_ran 8 \n", 77, 1, false},
      {"begun 7 t\n", 77, 1},
  };
  for (const auto& row : rows) {
    const auto verdict = judge(row.report, row.command);
    EXPECT_EQ(verdict.exit_code, row.verdict) << row.report;
    EXPECT_EQ(verdict.problem.empty(), row.verdict == 77) << row.report;
  }
  EXPECT_THAT(judge("", 77).problem, HasSubstr("set SKIP_REGULAR_EXPRESSION"));
  EXPECT_TRUE(judge("begun 7 t\nskipped 7 \n", 77).meant_by_the_test);
}

TEST(Verdict, fails_a_command_below_which_tests_have_not_ended) {
  const std::vector<Row> rows{
      {"begun 7 t\ncomplete 7 \n", 0, 0},
      {"begun 7 t\ncomplete 7 \nbegun 7 t\ncomplete 7 \n", 0, 0},
      {"what no gputest has written\nbegun 7 t\n\ncomplete 7 \n", 0, 0},
      {"begun 7 t\n", 0, 1},
      {"begun 7 t\nbegun 7 u\ncomplete 7 \n", 0, 1},
      {"begun 7 t\nskipped 7 \nbegun 8 t\n", 0, 1},
      {"begun 7 t\nbegun 8 t\ncomplete 7 \n", 0, 1},
      {"begun 7 t\ncomplete 7 \nbegun 7 t\n", 0, 1},
      {"begun 7 t\nrefused 7 no test ran\nnothing_ran 7 \n", 0, 1},
      {"begun 7 t\nnothing_ran 7 \nbegun 8 t\ncomplete 8 \n", 0, 1},
      {"begun 7 t\nrefused 7 no such folder\ncomplete 7 \n", 0, 1},
      {"begun 7 t\nrefused 7 no such folder\ncomplete 7 \nbegun 8 t\nskipped 8 \n", 0, 1},
  };
  for (const auto& row : rows) {
    const auto verdict = judge(row.report, row.command);
    EXPECT_EQ(verdict.exit_code, row.verdict) << row.report;
    EXPECT_EQ(verdict.problem.empty(), row.verdict == 0) << row.report;
    EXPECT_EQ(verdict.meant_by_the_test, row.verdict == 0) << row.report;
  }
  EXPECT_THAT(judge("begun 7 t\n", 0).problem, HasSubstr("process 7 began its tests"));
  EXPECT_THAT(judge("begun 7 t\ncomplete 7 \nbegun 8 t\nrefused 8 why\n", 0).problem, HasSubstr("process 8 began"));
  EXPECT_EQ(judge("begun 7 t\nrefused 7 why\nnothing_ran 7 \n", 0).problem,
            "no test ran, although the command ended with 0");
}

TEST(Verdict, shows_a_skip_although_the_command_has_dropped_its_exit_code) {
  for (const std::string report : {"begun 7 t\nskipped 7 \n", "begun 7 t\ncomplete 7 \nbegun 8 t\nskipped 8 \n"}) {
    const auto verdict = judge(report, 0);
    EXPECT_EQ(verdict.exit_code, 77) << report;
    EXPECT_EQ(verdict.problem, "");
    EXPECT_TRUE(verdict.meant_by_the_test);
  }
}

TEST(Verdict, tells_a_test_that_failed_from_one_that_gputest_did_not_let_run) {
  EXPECT_TRUE(judge("begun 7 t\ncomplete 7 \n", 1).meant_by_the_test);
  EXPECT_TRUE(judge("begun 7 t\n", 1).meant_by_the_test) << "an exit(1) in a test is the test's own";
  EXPECT_FALSE(judge("begun 7 t\nrefused 7 no such folder\ncomplete 7 \n", 1).meant_by_the_test);
  EXPECT_EQ(judge("begun 7 t\nrefused 7 no such folder\ncomplete 7 \n", 1).exit_code, 1);
  EXPECT_FALSE(judge("begun 7 t\nrefused 7 no such folder\ncomplete 7 \n", 77).meant_by_the_test);
  EXPECT_FALSE(judge("begun 7 t\nnothing_ran 7 \n", 77).meant_by_the_test);
  EXPECT_FALSE(judge("begun 7 t\nnothing_ran 7 \n", 1).meant_by_the_test);
  EXPECT_TRUE(judge("", 77).meant_by_the_test);
}

} // namespace

} // namespace gputest::cli
