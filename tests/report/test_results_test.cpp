// SPDX-License-Identifier: BSD-3-Clause
#include "report/test_results.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gputest::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// The text of a log, line by line, a second each.
class Log {
public:
  Log& enter(int pid, const std::string& entry, bool under_a_lease = false) {
    return line(pid, entry, "",
                R"("event":"enter","devices":[],"under_a_lease":)" + std::string{under_a_lease ? "true" : "false"});
  }
  Log& lease(int pid, const std::string& entry, const std::string& test) {
    return line(pid, entry, test, R"("event":"lease","bytes":1,"devices":[],"waited":0)");
  }
  /// A test has given back its lease and ended.
  Log& ended(int pid, const std::string& entry, const std::string& test, const std::string& result = "passed") {
    line(pid, entry, test, R"("event":"release","devices":[])");
    return line(pid, entry, test, R"("event":"test","seconds":0.5,"result":")" + result + '"');
  }
  Log& ran(int pid, const std::string& entry, const std::string& test, const std::string& result = "passed") {
    return lease(pid, entry, test).ended(pid, entry, test, result);
  }
  Log& end(int pid, const std::string& entry, int exit, const std::string& test = "") {
    return line(pid, entry, test, R"("event":"end","exit":)" + std::to_string(exit));
  }

  /// `<name> <result>` of each.
  [[nodiscard]] std::vector<std::string> results() const {
    std::vector<std::string> texts;
    for (const auto& result : results_of(parse_run_log(text_))) {
      texts.push_back(result.name + " " + result.result);
    }
    return texts;
  }

private:
  Log& line(int pid, const std::string& entry, const std::string& test, const std::string& rest) {
    text_ += R"({"t":)" + std::to_string(++time_) + R"(,"pid":)" + std::to_string(pid) + R"(,"entry":")" + entry +
             R"(","test":")" + test + "\"," + rest + "}\n";
    return *this;
  }

  std::string text_;
  int time_ = 100;
};

TEST(TestResults, are_unknown_of_a_case_in_which_its_worker_was_killed) {
  Log log;
  log.enter(1, "a").ran(1, "a", "S.a").lease(1, "b", "S.b");
  EXPECT_THAT(log.results(), ElementsAre("a: S.a passed", "b: S.b unknown"));
  log.enter(2, "c").ran(2, "c", "S.c").end(2, "c", 0);
  EXPECT_THAT(log.results(), UnorderedElementsAre("a: S.a passed", "b: S.b unknown", "c: S.c passed"));
}

TEST(TestResults, are_those_of_the_process_in_which_a_case_ran_once_more) {
  Log failed;
  failed.enter(1, "a").ran(1, "a", "S.a").ran(1, "b", "S.b", "failed").end(1, "b", 0);
  failed.enter(2, "b").ran(2, "b", "S.b").end(2, "b", 0);
  EXPECT_THAT(failed.results(), ElementsAre("a: S.a passed", "b: S.b passed"));
  Log crashed;
  crashed.enter(1, "a").ran(1, "a", "S.a").lease(1, "b", "S.b");
  crashed.enter(2, "b").ran(2, "b", "S.b").end(2, "b", 0);
  EXPECT_THAT(crashed.results(), UnorderedElementsAre("a: S.a passed", "b: S.b passed"));
  Log twice;
  twice.enter(1, "a").ran(1, "a", "S.a").lease(1, "b", "S.b");
  twice.enter(2, "b").lease(2, "b", "S.b");
  EXPECT_THAT(twice.results(), ElementsAre("a: S.a passed", "b: S.b unknown"));
  Log exited;
  exited.enter(1, "a").ran(1, "a", "S.a").lease(1, "b", "S.b").end(1, "b", 3, "S.b");
  EXPECT_THAT(exited.results(), ElementsAre("a: S.a passed", "b: S.b failed"));
  exited.enter(2, "b").ran(2, "b", "S.b").end(2, "b", 0);
  EXPECT_THAT(exited.results(), UnorderedElementsAre("a: S.a passed", "b: S.b passed"));
}

TEST(TestResults, are_those_of_the_last_of_several_attempts) {
  Log log;
  log.enter(1, "a").ran(1, "a", "S.a", "failed").ran(1, "a", "S.b").end(1, "a", 1);
  log.enter(2, "a").ran(2, "a", "S.a").ran(2, "a", "S.b").end(2, "a", 0);
  EXPECT_THAT(log.results(), ElementsAre("a: S.a passed", "a: S.b passed"));
  log.enter(3, "a").ran(3, "a", "S.a", "failed").ran(3, "a", "S.b").end(3, "a", 1);
  EXPECT_THAT(log.results(), ElementsAre("a: S.a failed", "a: S.b passed"));
  Log without_tests;
  without_tests.enter(1, "a").end(1, "a", 1).enter(2, "a").end(2, "a", 0);
  EXPECT_THAT(without_tests.results(), ElementsAre("a passed"));
  Log after_tests;
  after_tests.enter(1, "a").ran(1, "a", "S.a").end(1, "a", 1);
  EXPECT_THAT(after_tests.results(), ElementsAre("a: S.a passed", "a, after its tests failed"));
  after_tests.enter(2, "a").ran(2, "a", "S.a").end(2, "a", 0);
  EXPECT_THAT(after_tests.results(), ElementsAre("a: S.a passed"));
}

TEST(TestResults, are_failures_if_one_process_of_an_attempt_fails) {
  Log ranks; // under one launcher
  ranks.enter(1, "a").enter(2, "a", true).enter(3, "a", true);
  ranks.ended(2, "a", "S.a", "failed").ended(3, "a", "S.a").end(3, "a", 0).end(2, "a", 1).end(1, "a", 1);
  EXPECT_THAT(ranks.results(), ElementsAre("a: S.a failed"));
  ranks.enter(4, "a").enter(5, "a", true).ended(5, "a", "S.a").end(5, "a", 0).end(4, "a", 0);
  EXPECT_THAT(ranks.results(), ElementsAre("a: S.a passed"));
  Log iterations; // --gtest_repeat
  iterations.enter(1, "a").ran(1, "a", "S.a", "failed").ran(1, "a", "S.a").end(1, "a", 1);
  EXPECT_THAT(iterations.results(), ElementsAre("a: S.a failed"));
}

TEST(TestResults, name_the_entry_that_failed_after_its_tests_by_the_end_of_its_process) {
  Log worker;
  worker.enter(1, "a").ran(1, "a", "S.a").ran(1, "b", "S.b").end(1, "b", 1);
  EXPECT_THAT(worker.results(), ElementsAre("a: S.a passed", "b: S.b passed", "b, after its tests failed"));
  Log launcher;
  launcher.enter(1, "a").enter(2, "a", true).ended(2, "a", "S.a").end(2, "a", 1).end(1, "a", 1);
  EXPECT_THAT(launcher.results(), ElementsAre("a: S.a passed", "a, after its tests failed"));
}

TEST(TestResults, are_not_those_of_other_processes_of_the_entry) {
  Log killed; // of a program that ctest starts for each case, without an entry of gputest's
  killed.enter(1, "program").lease(1, "program", "S.a").enter(2, "program").ran(2, "program", "S.b");
  EXPECT_THAT(killed.results(), UnorderedElementsAre("program: S.a unknown", "program: S.b passed"));
  Log failed;
  failed.enter(1, "program").ran(1, "program", "S.a").end(1, "program", 1);
  failed.enter(2, "program").ran(2, "program", "S.b").end(2, "program", 0);
  EXPECT_THAT(failed.results(),
              UnorderedElementsAre("program: S.a passed", "program: S.b passed", "program, after its tests failed"));
  Log at_once;
  at_once.enter(1, "program").enter(2, "program").ran(1, "program", "S.a").ran(2, "program", "S.b", "failed");
  at_once.end(2, "program", 1).end(1, "program", 1);
  EXPECT_THAT(at_once.results(),
              ElementsAre("program: S.a passed", "program: S.b failed", "program, after its tests failed"));
}

TEST(TestResults, are_those_of_the_tests_once_a_suite_has_its_lease_again) {
  Log log;
  log.enter(1, "a").lease(1, "a", "S");
  EXPECT_THAT(log.results(), ElementsAre("a: S unknown"));
  log.enter(2, "a").lease(2, "a", "S").ended(2, "a", "S.a").end(2, "a", 0);
  EXPECT_THAT(log.results(), ElementsAre("a: S.a passed"));
}

TEST(TestResults, are_the_same_if_a_later_process_has_the_number_of_an_earlier_one) {
  for (const int later : {2, 1}) {
    SCOPED_TRACE(later);
    Log again;
    again.enter(1, "a").ran(1, "a", "S.a").ran(1, "b", "S.b", "failed").end(1, "b", 0);
    again.enter(later, "b").ran(later, "b", "S.b").end(later, "b", 0);
    EXPECT_THAT(again.results(), ElementsAre("a: S.a passed", "b: S.b passed"));
    Log in_a_worker;
    in_a_worker.enter(later, "b").ran(later, "b", "S.b", "failed").end(later, "b", 1);
    in_a_worker.enter(1, "a").ran(1, "a", "S.a").ran(1, "b", "S.b").end(1, "b", 0);
    EXPECT_THAT(in_a_worker.results(), ElementsAre("b: S.b passed", "a: S.a passed"));
    Log both_fail;
    both_fail.enter(1, "p").ran(1, "p", "S.a").end(1, "p", 1);
    both_fail.enter(later, "p").ran(later, "p", "S.b", "failed").end(later, "p", 1);
    EXPECT_THAT(both_fail.results(), ElementsAre("p: S.a passed", "p: S.b failed", "p, after its tests failed"));
    Log second_fails;
    second_fails.enter(1, "p").ran(1, "p", "S.b", "failed").end(1, "p", 1);
    second_fails.enter(later, "p").ran(later, "p", "S.a").end(later, "p", 1);
    EXPECT_THAT(second_fails.results(), ElementsAre("p: S.b failed", "p: S.a passed", "p, after its tests failed"));
    Log launchers;
    launchers.enter(1, "a").enter(5, "a", true).ended(5, "a", "S.a", "failed").end(5, "a", 1).end(1, "a", 1);
    launchers.enter(later, "a").enter(5, "a", true).ended(5, "a", "S.a").end(5, "a", 0).end(later, "a", 0);
    EXPECT_THAT(launchers.results(), ElementsAre("a: S.a passed"));
  }
}

TEST(TestResults, are_of_one_attempt_whatever_a_launcher_starts) {
  Log one_after_another;
  one_after_another.enter(1, "a").enter(2, "a", true).ended(2, "a", "S.a", "failed").end(2, "a", 1);
  one_after_another.enter(3, "a", true).ended(3, "a", "S.a").end(3, "a", 0).end(1, "a", 1);
  EXPECT_THAT(one_after_another.results(), ElementsAre("a: S.a failed"));
  Log without_devices; // processes that have not entered the ledger
  without_devices.enter(1, "a").ended(8, "a", "S.a", "failed").ended(9, "a", "S.a").end(1, "a", 1);
  EXPECT_THAT(without_devices.results(), ElementsAre("a: S.a failed"));
  Log tolerated;
  tolerated.enter(1, "a").enter(2, "a", true).ended(2, "a", "S.a").end(2, "a", 1).end(1, "a", 0);
  EXPECT_THAT(tolerated.results(), ElementsAre("a: S.a passed")) << "the launcher decides";
  Log killed;
  killed.enter(1, "a").lease(1, "a", "S.a").enter(2, "a", true).ended(2, "a", "S.a");
  EXPECT_THAT(killed.results(), ElementsAre("a: S.a unknown"));
  killed.ended(2, "a", "S.a", "failed");
  EXPECT_THAT(killed.results(), ElementsAre("a: S.a failed"));
}

TEST(TestResults, are_of_attempts_of_their_own_if_no_process_of_the_entry_holds_them_together) {
  Log after;
  after.enter(1, "a").ran(1, "a", "S.a", "failed").end(1, "a", 1).ended(9, "a", "S.a");
  EXPECT_THAT(after.results(), ElementsAre("a: S.a passed"));
  Log before;
  before.ended(9, "a", "S.a", "failed").enter(1, "a").ran(1, "a", "S.a").end(1, "a", 0);
  EXPECT_THAT(before.results(), ElementsAre("a: S.a passed"));
  Log without_any;
  without_any.ended(8, "a", "S.a", "failed").ended(9, "a", "S.a");
  EXPECT_THAT(without_any.results(), ElementsAre("a: S.a passed"));
  Log worker; // ctest runs the case once more
  worker.enter(1, "a").ran(1, "a", "S.a").ran(1, "b", "S.b", "failed").ran(1, "b", "S.b").end(1, "b", 0);
  EXPECT_THAT(worker.results(), ElementsAre("a: S.a passed", "b: S.b passed"));
}

TEST(TestResults, say_once_that_a_test_has_failed) {
  Log log;
  log.enter(1, "a").ran(1, "a", "S.a").ran(1, "a", "S.b", "failed").ran(1, "a", "S.c").end(1, "a", 1);
  EXPECT_THAT(log.results(), ElementsAre("a: S.a passed", "a: S.b failed", "a: S.c passed"));
}

TEST(TestResults, name_each_process_that_fails) {
  Log log;
  log.enter(1, "a").ran(1, "a", "S.a").end(1, "a", 0);
  log.enter(2, "b").ran(2, "b", "S.b").end(2, "b", 1);
  log.enter(3, "c").ran(3, "c", "S.c").end(3, "c", 1, "S.c");
  EXPECT_THAT(log.results(),
              ElementsAre("a: S.a passed", "b: S.b passed", "c: S.c failed", "b, after its tests failed"));
}

TEST(TestResults, are_unknown_of_an_entry_whose_launcher_was_killed) {
  Log log;
  log.enter(1, "a").lease(1, "a", "").enter(2, "a", true).ended(2, "a", "S.a");
  EXPECT_THAT(log.results(), ElementsAre("a: S.a passed", "a unknown"));
}

TEST(TestResults, are_skipped_of_an_entry_that_never_had_a_device_and_of_no_other) {
  RunLog log;
  log.skips = {{"a", "S.a", "why", "run"}, {"a", "S.b", "why", "run"}, {"b", "", "why", "run"}, {"c", "S.c", "", ""}};
  log.tests = {{"c", "S.d", "passed", 1, "", 5, 1, ""}};
  std::vector<std::string> texts;
  for (const auto& result : results_of(log)) {
    texts.push_back(result.name + " " + result.result + " " + result.entry + " " + result.test);
  }
  EXPECT_THAT(texts, ElementsAre("c: S.d passed c S.d", "a: S.a skipped a S.a", "b skipped b "));
}

TEST(TestResults, have_the_time_of_a_whole_entry_and_none_of_what_did_not_end_by_itself) {
  RunLog log;
  LoggedProcess process;
  process.entry = "a";
  process.pid = 1;
  process.begun = 10;
  process.ended = 14;
  process.open_ended = false;
  process.exit = 77;
  log.processes = {process};
  LoggedLease lease;
  lease.entry = "a";
  lease.pid = 1;
  lease.asked = 10.5;
  lease.begun = 11;
  lease.ended = 14;
  log.leases = {lease};
  auto second = lease;
  second.asked = 12;
  second.begun = 12.25;
  log.leases.push_back(second);
  auto other = lease; // another process waits meanwhile
  other.pid = 2;
  other.begun = 13;
  log.leases.push_back(other);
  const auto one = [&] {
    const auto results = results_of(log);
    EXPECT_THAT(results, testing::SizeIs(1));
    return results.at(0);
  };
  EXPECT_EQ(one().result, "skipped");
  EXPECT_DOUBLE_EQ(one().seconds, 3.25);
  EXPECT_DOUBLE_EQ(one().ended, 14);
  log.processes[0].open_ended = true;
  log.processes[0].exit.reset();
  EXPECT_EQ(one().result, "unknown");
  EXPECT_DOUBLE_EQ(one().seconds, -1);
  log.processes[0].exit = 1;
  log.processes[0].under_a_lease = true;
  EXPECT_THAT(results_of(log), IsEmpty()) << "it is a part of another one";
}

TEST(TestResults, are_no_failures_of_a_process_that_skips) {
  Log log;
  log.enter(1, "a").ran(1, "a", "S.a", "skipped").end(1, "a", 77);
  EXPECT_THAT(log.results(), ElementsAre("a: S.a skipped"));
}

TEST(TestResults, have_names_of_entry_and_test) {
  EXPECT_EQ(full_name("e", "S.a"), "e: S.a");
  EXPECT_EQ(full_name("e", ""), "e");
  EXPECT_EQ(full_name("", "S.a"), "S.a");
  EXPECT_EQ(full_name("S.a", "S.a"), "S.a");
}

TEST(TestResults, are_none_of_a_run_in_which_nothing_happened) { EXPECT_THAT(Log{}.results(), IsEmpty()); }

} // namespace
} // namespace gputest::report
