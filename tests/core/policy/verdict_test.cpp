// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/verdict.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gputest::policy {
namespace {

struct Row {
  EntryReport report;
  int command;
  int verdict;
  bool meant;
  std::string problem; ///< its beginning; empty: there is none
};

EntryReport make_report(unsigned begun, unsigned ended, unsigned skipped = 0, unsigned nothing_ran = 0,
                        const std::string& by_gputest = "") {
  return {begun, ended, skipped, nothing_ran, by_gputest, "Sort.Keys"};
}

EntryReport not_run(EntryReport report) {
  report.not_run = "Sort.Keys did not run";
  return report;
}

EntryReport failed(EntryReport report) {
  report.failed = true;
  return report;
}

void expect(const std::vector<Row>& rows, CommandKind command) {
  for (const auto& [report, exit_code, verdict, meant, problem] : rows) {
    const auto of = std::to_string(report.begun) + " begun, " + std::to_string(report.ended) + " ended, exit code " +
                    std::to_string(exit_code);
    const auto judged = judge(report, exit_code, command);
    EXPECT_EQ(judged.exit_code, verdict) << of;
    EXPECT_EQ(judged.counts_for_will_fail, meant) << of;
    EXPECT_EQ(judged.problem.substr(0, problem.size()), problem) << of;
    EXPECT_EQ(judged.problem.empty(), problem.empty()) << of << ": " << judged.problem;
  }
}

const std::string of_77 = "the command ended with 77, which CTest would report as skipped, and gputest did not skip it";
const std::string in_the_middle = "the command ended with 0, and the test Sort.Keys had begun and not ended";

TEST(Verdict, of_a_command_with_a_code_of_its_own_for_a_skip_is_a_skip_unless_a_test_failed) {
  const auto code = [](const EntryReport& report, int exit_code) {
    return judge(report, exit_code, CommandKind::arbitrary, 5).exit_code;
  };
  EXPECT_EQ(code(make_report(0, 0), 5), 77);
  EXPECT_EQ(code(make_report(1, 1), 5), 77);
  EXPECT_EQ(code(make_report(0, 0), 4), 4);
  EXPECT_EQ(code(make_report(0, 0), 77), 1) << "which some programs mean otherwise";
  EXPECT_EQ(code(failed(make_report(1, 1)), 5), 5);
  EXPECT_EQ(code(make_report(1, 0), 5), 5) << "it ended in a test";
  EXPECT_EQ(code(make_report(1, 1, 0, 0, "no GPU"), 5), 5);
  EXPECT_EQ(judge(make_report(0, 0), 5, CommandKind::arbitrary).exit_code, 5);
}

TEST(Verdict, of_tests_needs_their_own_word) {
  expect(
      {
          {make_report(1, 1), 0, 0, true, ""},
          {make_report(1, 1), 1, 1, true, ""},
          {make_report(1, 1), 23, 23, true, ""}, // such as a leak checker's
          {make_report(0, 0), 0, 1, false, "the command ended with 0, and gputest did not run its tests"},
          {make_report(0, 0), 3, 3, false, ""}, // main() that calls no gputest, or a library that is missing
          {make_report(0, 0), 77, 1, false, of_77},
          {make_report(1, 0), 0, 1, false, in_the_middle},
          {make_report(1, 0), 3, 3, false, ""},
          {make_report(1, 0), 77, 1, false, of_77},
          {make_report(2, 1), 0, 1, false, in_the_middle},
          {make_report(1, 1, 1), 77, 77, true, ""},
          {make_report(1, 1, 1), 0, 77, true, ""},
          {make_report(2, 1, 1), 77, 1, false, of_77}, // the second run ended by _exit(77)
          {failed(make_report(1, 1)), 1, 1, true, ""},
          {failed(make_report(1, 1)), 0, 1, true, "tests have failed, but the command ended with 0"},
          {failed(make_report(2, 2, 1)), 77, 1, true, of_77},
          {make_report(1, 1), 77, 1, true, of_77},
          {make_report(1, 1, 0, 1), 1, 1, false, ""},
          {make_report(1, 1, 0, 0, "no GPU"), 1, 1, false, ""},
          {not_run(make_report(1, 1)), 0, 1, false, "Sort.Keys did not run"},
          {not_run(make_report(1, 1, 1)), 77, 1, false, "Sort.Keys did not run"},
          {not_run(failed(make_report(1, 1))), 1, 1, false, ""},
      },
      CommandKind::gputest_executable);
}

TEST(Verdict, of_any_command_is_its_exit_code_but_for_what_gputest_says) {
  expect(
      {
          {make_report(0, 0), 0, 0, true, ""},
          {make_report(0, 0), 3, 3, true, ""},
          {make_report(0, 0), 77, 1, true, of_77},
          {make_report(1, 0), 0, 1, false, in_the_middle},
          {make_report(1, 0), 139, 139, true, ""}, // a script whose test has crashed
          {make_report(2, 2, 1), 0, 77, true, ""},
          {make_report(2, 2, 1), 77, 77, true, ""},
          {make_report(2, 2, 1, 1), 77, 77, true, ""},
          {make_report(2, 2, 1, 1, "no test ran"), 77, 1, false, of_77},
          {make_report(1, 1, 0, 1), 0, 1, false, "no test ran, although the command ended with 0: it only lists them"},
          {make_report(2, 2, 0, 2), 0, 1, false, "no test ran, although the command ended with 0"},
          {make_report(2, 2, 0, 1), 0, 0, true, ""}, // it listed tests, and ran them
          {make_report(2, 2, 0, 1, "no test ran"), 0, 1, false, "gputest has failed a test, although"},
          {make_report(1, 1, 0, 0, "no GPU"), 0, 1, false,
           "gputest has failed a test, although the command ended with 0: no GPU"},
          {make_report(1, 1, 1, 0, "no GPU"), 77, 1, false, of_77},
      },
      CommandKind::arbitrary);
}

TEST(Attempts, are_three_unless_the_setting_says_fewer) {
  const std::vector<std::pair<std::string, int>> rows{{"", 3}, {"3", 3}, {"2", 2}, {"1", 1}, {"0", 3}, {"many", 3}};
  for (const auto& [text, attempts] : rows) {
    EXPECT_EQ(parse_attempts(text), attempts) << text;
  }
}

TEST(NextAttempt, has_an_eighth_more_and_then_a_whole_device) {
  using namespace literals;
  EntryReport report;
  report.running = "Sort.keys";
  report.stopped = {StopCause::small_lease, 256_MiB, 8_GiB};
  const auto second = next_attempt("sort", report, 1, 3);
  EXPECT_EQ(second.number, 2);
  EXPECT_EQ(second.lease, 9_GiB);
  EXPECT_EQ(second.text.find("sort: Sort.keys needs 8 GiB, and its estimated lease of 256 MiB could not grow: "), 0U);
  report.stopped.possible = 10_GiB;
  EXPECT_EQ(next_attempt("sort", report, 1, 3).lease, 10_GiB) << "it asks what is free";
  EXPECT_NE(second.text.find(". Only that counts. "), std::string::npos);
  report.check_has_failed = true;
  EXPECT_NE(next_attempt("sort", report, 1, 3).text.find(". What had failed before counts, too. "), std::string::npos);
  const auto third = next_attempt("sort", report, 2, 3);
  EXPECT_EQ(third.number, 3);
  EXPECT_EQ(third.lease, 0_B);
  EXPECT_NE(third.text.find("and runs again with a whole device. "), std::string::npos);
  EXPECT_EQ(next_attempt("sort", report, 3, 3).number, 0)
      << "the last one asks for nothing; a program may say it all the same";
  EXPECT_NE(next_attempt("sort", report, 2, 2).text.find("runs no more (GPUTEST_ATTEMPTS=2)"), std::string::npos);
}

TEST(NextAttempt, after_memory_that_others_took_is_the_last_one_alone) {
  using namespace literals;
  EntryReport report;
  report.stopped = {StopCause::others, 3_GiB, {}, 1_GiB};
  for (const int attempts : {2, 3}) {
    const auto next = next_attempt("sort", report, 1, attempts);
    EXPECT_EQ(next.number, attempts);
    EXPECT_TRUE(next.alone);
    EXPECT_EQ(next.because,
              "sort ran out of memory within its lease of 3 GiB, while tests of other processes had 1 GiB "
              "more than gputest had estimated for them");
  }
  report.stopped = {StopCause::own_unleased};
  const auto next = next_attempt("sort", report, 1, 3);
  EXPECT_EQ(next.number, 3);
  EXPECT_TRUE(next.alone);
  EXPECT_EQ(next.because, "sort takes memory outside of its leases, for which there was no room "
                          "beside other processes");
}

TEST(NextAttempt, of_a_test_that_others_leave_no_memory_is_the_last_one_alone) {
  using namespace literals;
  EntryReport report;
  for (const auto& [leased, says] : {std::pair{0_B, "sort found no room for its lease"},
                                     std::pair{3_GiB, "sort ran out of memory within its lease of 3 GiB"}}) {
    report.stopped = {StopCause::others, leased};
    const auto next = next_attempt("sort", report, 1, 3);
    EXPECT_EQ(next.number, 3);
    EXPECT_TRUE(next.alone);
    EXPECT_EQ(next.because, says + std::string{", while other processes had memory of its device without a lease"});
  }
}

TEST(RunsAgain, is_for_what_was_stopped_unless_its_process_crashed_or_gputest_has_failed_it) {
  using namespace literals;
  EntryReport report;
  EXPECT_FALSE(runs_again(report, 0));
  report.stopped = {StopCause::small_lease, 256_MiB, 8_GiB};
  EXPECT_TRUE(runs_again(report, 0));
  EXPECT_FALSE(runs_again(report, 11)) << "its own process crashed; another one was stopped";
  report.failed_by_gputest = "of another process";
  EXPECT_FALSE(runs_again(report, 0));
}

TEST(TimeLimits, say_when_they_are_over_what_ran_for_how_long_and_what_to_do) {
  const TimeLimit limit{std::chrono::milliseconds{2500}, "2.5 s"};
  const std::string rest = " has run for 2.5 s, the limit (TIMEOUT), not counting 3 s in which it waited for a GPU. It "
                           "ends here, and so do the processes that it started. If it needs longer, raise its TIMEOUT";
  const std::chrono::milliseconds waited{3900};
  EXPECT_EQ(text_of_time_out({"sort", "Sort.Keys", waited, ""}, limit), "timed out: sort: Sort.Keys" + rest);
  EXPECT_EQ(text_of_time_out({"sort", "", waited, ""}, limit), "timed out: sort" + rest);
  EXPECT_EQ(text_of_time_out({"Sort.Keys", "Sort.Keys", waited, ""}, limit), "timed out: Sort.Keys" + rest);
  EXPECT_EQ(text_of_time_out({"sort", "", std::chrono::seconds{0}, ""}, limit),
            "timed out: sort has run for 2.5 s, the limit (TIMEOUT)" + rest.substr(rest.find(". It ends")))
      << "a launcher waits before the command begins";
  auto after_signal = rest;
  after_signal.insert(rest.find(". If"), ", after SIGINT (TIMEOUT_SIGNAL_NAME)");
  EXPECT_EQ(text_of_time_out({"sort", "", waited, ""}, *parse_time_limit("2.5 SIGINT")),
            "timed out: sort" + after_signal);
  EXPECT_EQ(text_of_time_out({"sort", "", waited, "7 (sleep)"}, limit),
            "timed out: sort has ended and left processes behind that hold its output, so CTest waits for them: 7 "
            "(sleep). Together they have run for 2.5 s, the limit (TIMEOUT), not counting 3 s in which it waited for a "
            "GPU. Those that were found end here. Let the test end what it starts, or give it an output of its own");
}

} // namespace
} // namespace gputest::policy
