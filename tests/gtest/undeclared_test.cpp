// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace gputest::tests {
namespace {

using namespace literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Tests of which nobody declares the memory, as ctest runs their entry.
class Undeclared : public SuiteTest {
protected:
  Undeclared() {
    set("GPUTEST_TEST", "entry");
    set("GPUTEST_ENTRY", "ctest");
    set("GPUTEST_RUN_MODE", "parallel");
    set("GPUTEST_LOG", folder() + "/log");
  }

  [[nodiscard]] Ended run_test(const std::string& test, std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), "--gtest_filter=Undeclared." + test);
    return run("undeclared", arguments);
  }

  [[nodiscard]] std::string log_of_runs() const {
    std::string log;
    for (const auto& file : std::filesystem::directory_iterator{folder() + "/log"}) {
      log += os::contents_of(file.path().string()).value_or("");
    }
    return log;
  }

  /// A watcher and its first attempt.
  [[nodiscard]] ChildProcess start_watched(const std::string& filter) const {
    return start_program(
        {GPUTEST_ENTRY_PROGRAM, "--watch", path_of("undeclared"), "--gtest_filter=Undeclared." + filter});
  }

  /// A process of which nobody watches that it has taken its memory: of `Undeclared.stops`, 2 of 4 GiB.
  [[nodiscard]] ChildProcess start_unwatched(const std::string& filter) {
    unset("GPUTEST_ENTRY");
    auto process = start("undeclared", {"--gtest_filter=" + filter});
    process.wait_for_out("@before");
    process.say("go on");
    process.wait_for_out("@after");
    set("GPUTEST_ENTRY", "ctest");
    return process;
  }

  /// A watched test with 3 of 4 GiB that goes on, and a process of which nobody watches that it takes 2 GiB before.
  [[nodiscard]] std::pair<ChildProcess, ChildProcess> start_beside(const std::string& other, const std::string& test) {
    auto watcher =
        start_program({GPUTEST_ENTRY_PROGRAM, "--watch", path_of("undeclared"), "--gtest_filter=Neighbour." + test});
    watcher.wait_for_out("@leased");
    auto neighbour = start_unwatched(other);
    watcher.say("go on");
    return {std::move(watcher), std::move(neighbour)};
  }

  /// The process that holds a lease beside `holder`.
  [[nodiscard]] pid_t process_beside(const ChildProcess& holder) const {
    for (const auto& record : entries()) {
      if (record.pid != holder.pid()) {
        return static_cast<pid_t>(record.pid);
      }
    }
    return 0;
  }

  /// Blocks until a process is at that stage. Its pid.
  [[nodiscard]] pid_t wait_for_one(policy::Stage stage) const {
    for (;;) {
      for (const auto& record : entries()) {
        if (record.claim.stage == stage) {
          return static_cast<pid_t>(record.pid);
        }
      }
      std::this_thread::yield();
    }
  }
};

TEST_F(Undeclared, test_asks_for_what_the_device_has_beyond_GPUTEST_DEVICE_MEMORY) {
  set("GPUTEST_DEVICE_MEMORY", "1GiB");
  const Ended much = run_test("much");
  EXPECT_EQ(much.exit_code, 0) << much.out << much.err;
  EXPECT_THAT(much.err, AllOf(HasSubstr("much took 2 GiB, and its lease is "), Not(HasSubstr("its lease is 256 MiB"))));
}

TEST_F(Undeclared, test_takes_what_there_is_room_for_and_runs_once) {
  const Ended much = run_test("much");
  EXPECT_EQ(much.exit_code, 0) << much.out << much.err;
  EXPECT_THAT(much.out, HasSubstr("attempt 1, after"));
  EXPECT_THAT(much.err, Not(HasSubstr("runs again")));
  EXPECT_EQ(run_test("much_by_a_resource").exit_code, 0);
  EXPECT_THAT(run_test("takes_all_there_is").out, HasSubstr("attempt 1, had 4 GiB"));
}

TEST_F(Undeclared, test_that_asks_what_is_free_says_in_the_log_what_it_may_take_where_all_is) {
  EXPECT_EQ(run_test("third_of_what_is_free_after_1_gib").exit_code, 0);
  const auto log = log_of_runs();
  EXPECT_THAT(log, HasSubstr(R"("event":"need","bytes":2147483648,)"));
  EXPECT_THAT(log, HasSubstr(R"("possible_bytes":2863311530,)")) << "2 GiB of 3 are 2.7 of 4";
}

TEST_F(Undeclared, test_is_stopped_before_it_takes_what_others_hold_and_runs_again_when_there_is_room) {
  auto holder = start_holder(); // 3 of 4 GiB
  auto watcher = start_watched("much");
  static_cast<void>(wait_for_one(policy::Stage::waiting));
  EXPECT_EQ(holder.finish().exit_code, 0) << "nothing was taken from it";
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("attempt 1, before"), Not(HasSubstr("attempt 1, after")), HasSubstr("attempt 2, after")));
  EXPECT_THAT(ended.err, HasSubstr("gputest: entry: Undeclared.much needs 2 GiB, and its estimated lease of 256 MiB "
                                   "could not grow: others hold the rest. It was stopped before it took them, and runs "
                                   "again with 2.25 GiB. Only that counts. MEMORY in "));
}

TEST_F(Undeclared, test_that_needs_still_more_has_a_whole_device_the_third_time) {
  auto other = start("annotated", {"--gtest_filter=Small.says_nothing"});
  other.wait_for_out("@body");
  auto holder = start_holder();
  auto watcher = start_watched("more_and_more");
  static_cast<void>(wait_for_one(policy::Stage::waiting)); // for 1 GiB and an eighth
  static_cast<void>(holder.finish());
  watcher.wait_for_err("needs 4 GiB, and its estimated lease of 3 GiB could not grow");
  watcher.wait_for_err("runs again with a whole device. ");
  static_cast<void>(wait_for_one(policy::Stage::entering));
  static_cast<void>(other.finish());
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("attempt 3, has 4 GiB"));
}

TEST_F(Undeclared, test_that_asks_what_is_free_has_as_large_a_part_of_a_whole_device_the_second_time) {
  auto user = start_unwatched("Undeclared.stops");
  auto holder = start("annotated", {"--gtest_filter=Medium.with_bytes_and_a_heap"});
  holder.wait_for_out("@body");
  auto watcher = start_watched("three_quarters_of_what_is_free");
  watcher.wait_for_err("needs 1.31 GiB, and its estimated lease of 256 MiB could not grow");
  watcher.wait_for_err("runs again with 3 GiB. ");
  static_cast<void>(holder.finish());
  static_cast<void>(user.finish());
  EXPECT_EQ(watcher.finish().exit_code, 0);
}

TEST_F(Undeclared, test_that_may_not_run_again_fails) {
  auto holder = start_holder();
  set("GPUTEST_ATTEMPTS", "1");
  const Ended ended = run_test("much");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err,
              HasSubstr("gputest: failed: entry: Undeclared.much needs 2 GiB, and its estimated lease of 256 "
                        "MiB could not grow: others hold the rest. It was stopped before it took them, and "
                        "runs no more (GPUTEST_ATTEMPTS=1). MEMORY in "));
  EXPECT_THAT(log_of_runs(), AllOf(HasSubstr("its entry runs no more"), Not(HasSubstr(R"("event":"again")"))));
  set("GPUTEST_ENTRY", "will_fail");
  EXPECT_EQ(run_test("much").signal, SIGKILL) << "it is not the failure that is expected";
}

TEST_F(Undeclared, test_that_has_failed_runs_again_and_fails_whatever_comes_of_that) {
  for (const std::string test :
       {"failed_before", "failed_before_in_an_earlier_test:Undeclared.much_after_an_earlier_test", "much"}) {
    const auto report = folder() + "/" + test + ".xml";
    set("GTEST_OUTPUT", "xml:" + report);
    if (test == "much") {
      set("FAILS_BEFORE_THE_TESTS", "1");
    }
    auto holder = start_holder();
    auto watcher = start_watched(test);
    watcher.wait_for_err("What had failed before counts, too. ");
    static_cast<void>(holder.finish());
    const Ended ended = watcher.finish();
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("[  PASSED  ] ")) << "of the second attempt";
    const std::string says = "A test had failed before the entry was stopped for memory and ran again, which counts";
    EXPECT_THAT(ended.out, HasSubstr(says));
    EXPECT_THAT(os::contents_of(report).value_or(""), AllOf(HasSubstr(says), HasSubstr("<failure ")));
  }
}

TEST_F(Undeclared, test_whose_output_is_judged_fails_by_its_exit_code_if_an_attempt_that_is_not_shown_had_failed) {
  set("GPUTEST_ENTRY", "by_output");
  auto holder = start_holder();
  auto watcher = start_watched("failed_before");
  static_cast<void>(wait_for_one(policy::Stage::waiting));
  static_cast<void>(holder.finish());
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_EQ(ended.err, "gputest: failed: a test of entry had failed before the entry was stopped and ran again, which "
                       "counts\n");
}

TEST_F(Undeclared, test_that_may_not_run_again_is_no_expected_failure_whatever_had_failed_before) {
  auto holder = start_holder();
  set("GPUTEST_ATTEMPTS", "1");
  for (const char* const judged : {"will_fail", "by_output"}) {
    set("GPUTEST_ENTRY", judged);
    EXPECT_EQ(run_test("failed_before").signal, SIGKILL) << "its tests have not come to their end";
  }
}

TEST_F(Undeclared, test_that_is_stopped_ends_the_attempt_of_all_processes_and_what_had_failed_in_any_counts) {
  const auto program = [&](const std::string& test) {
    return path_of("undeclared") + " --gtest_filter=Undeclared." + test;
  };
  const auto beside = [&](const std::string& test) { return program(test) + " & read go; "; };
  const std::string fails = "failed_before_in_an_earlier_test";
  for (const auto& [script, exit_code] : std::vector<std::pair<std::string, int>>{
           {program(fails) + "; " + program("much"), 1},
           {program("crashes") + "; " + program("much"), 1},
           {"LINGERS=1 " + beside("small") + program("crashes") + "; " + program("much") + "; wait", 1},
           {"LINGERS=1 " + beside("small") + program("much") + "; wait", 0},
           {beside("goes_on") + program("crashes") + "; " + program("much") + "; wait", 1}, // with a forked process
           {beside("fails_and_goes_on") + program("much") + "; wait", 1},
           {beside("goes_on") + program("much") + " || kill $!; wait", 0}, // as mpirun does
           {program("much") + "; " + program(fails), 0},                   // it runs in the second attempt only
       }) {
    auto holder = start_holder();
    auto watcher = start_program({GPUTEST_ENTRY_PROGRAM, "--watch", "/bin/sh", "-c", script});
    if (script.find("go;") != std::string::npos) {
      watcher.wait_for_out("@beside");
      watcher.close_input();
    }
    static_cast<void>(wait_for_one(policy::Stage::waiting));
    static_cast<void>(holder.finish());
    const Ended ended = watcher.finish();
    EXPECT_EQ(ended.exit_code, exit_code) << script << "\n" << ended.out << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(exit_code == 0 ? ". Only that counts" : ". What had failed before counts, too"));
    EXPECT_EQ(ended.out.find("A test had failed before ") == std::string::npos, exit_code == 0) << script;
    EXPECT_TRUE(exit_code == 1 || ended.out.find("Failure") == std::string::npos) << ended.out;
  }
}

TEST_F(Undeclared, test_may_run_out_of_memory_on_purpose) {
  auto holder = start_holder();
  const Ended ended = run_test("runs_out_on_purpose");
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.err, Not(HasSubstr("again")));
}

TEST_F(Undeclared, test_may_take_from_any_thread_and_process) {
  const Ended threads = run_test("in_threads");
  EXPECT_EQ(threads.exit_code, 0) << threads.out << threads.err;
  EXPECT_EQ(run_test("in_a_forked_process").exit_code, 0) << "nobody sees what that takes";
}

TEST_F(Undeclared, test_goes_on_without_a_watcher_and_says_what_it_took) {
  auto holder = start_holder();
  unset("GPUTEST_ENTRY");
  const Ended ended = run_test("more_and_more");
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("took 4 GiB, and its lease is 1 GiB: tests of other processes may run out of "));
}

TEST_F(Undeclared, memory_is_asked_for_and_what_is_declared_is_a_limit) {
  const Ended ended = run("undeclared", {"--gtest_filter=Declared.*:SmallFixture.*"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(count(ended.out, "too_little took 512 MiB, and its lease is 256 MiB: "), 2U) << ended.out;
  set("GPUTEST_MEMORY", "small");
  EXPECT_THAT(run_test("much").out, HasSubstr("took 2 GiB, and its lease is 256 MiB: "));
}

TEST_F(Undeclared, test_leaves_no_process_of_an_attempt_that_was_stopped) {
  auto holder = start_holder();
  auto watcher = start_watched("much_with_a_process");
  watcher.wait_for_out("child ");
  const auto left = static_cast<pid_t>(std::stol(watcher.read_line()));
  static_cast<void>(wait_for_one(policy::Stage::waiting));
  while (os::state_of(left) != os::ProcessState::ended) {
    std::this_thread::yield();
  }
  static_cast<void>(holder.finish());
  EXPECT_EQ(watcher.finish().exit_code, 0);
}

TEST_F(Undeclared, test_whose_output_is_judged_shows_that_of_its_last_attempt_alone) {
  set("GPUTEST_ENTRY", "by_output");
  auto holder = start_holder();
  auto watcher = start_watched("much");
  static_cast<void>(wait_for_one(policy::Stage::waiting));
  static_cast<void>(holder.finish());
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, AllOf(Not(HasSubstr("attempt 1")), HasSubstr("attempt 2, after")));
  EXPECT_THAT(ended.err, Not(HasSubstr("gputest: ")));
}

TEST_F(Undeclared, test_whose_output_is_judged_shows_nothing_of_one_that_was_stopped_when_its_command_had_ended) {
  set("GPUTEST_ENTRY", "by_output");
  auto holder = start_holder();
  auto watcher = start_program(
      {GPUTEST_ENTRY_PROGRAM, "--watch", "/bin/sh", "-c",
       "(while kill -0 $$ 2>&-; do :; done; exec '" + path_of("undeclared") + "' --gtest_filter=Undeclared.much) &"});
  static_cast<void>(wait_for_one(policy::Stage::waiting));
  static_cast<void>(holder.finish());
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, AllOf(Not(HasSubstr("attempt 1")), HasSubstr("attempt 2, after")));
}

TEST_F(Undeclared, neighbour_that_takes_more_than_was_estimated_makes_a_test_run_once_more_alone) {
  auto [watcher, neighbour] = start_beside("Undeclared.stops", "keeps_to_its_lease");
  static_cast<void>(wait_for_one(policy::Stage::entering));
  EXPECT_EQ(neighbour.finish().exit_code, 0);
  watcher.wait_for_out("@leased");
  EXPECT_TRUE(entries().at(0).claim.exclusive);
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("gputest: entry: Neighbour.keeps_to_its_lease ran out of memory within its "
                              "lease of 3 GiB, while tests of other processes had 1.75 GiB more than "
                              "gputest had estimated for them. It runs once more, alone. Only that counts\n"),
                    Not(HasSubstr("Undeclared.stops"))));
}

TEST_F(Undeclared, neighbour_does_not_make_a_test_run_again_if_it_or_the_test_took_more_than_was_declared) {
  for (const auto& [other, test] :
       std::vector<std::pair<std::string, std::string>>{{"Neighbour.declares_too_little", "keeps_to_its_lease"},
                                                        {"Undeclared.stops", "exceeds_its_lease"},
                                                        {"Undeclared.stops", "keeps_to_its_lease_and_fails"}}) {
    auto [watcher, neighbour] = start_beside(other, test);
    const Ended ended = watcher.finish();
    EXPECT_EQ(ended.exit_code, 1) << other << test;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(test + " ran out of memory under its lease of "),
                                 HasSubstr(other == "Undeclared.stops" ? "1.75 GiB beyond its estimated lease"
                                                                       : "1.75 GiB beyond its lease"),
                                 Not(HasSubstr("once more"))))
        << other << test;
    static_cast<void>(neighbour.finish());
  }
}

TEST_F(Undeclared, set_up_of_a_suite_that_runs_out_of_memory_beside_others_runs_once_more_alone) {
  auto other = start_unwatched("Undeclared.stops");
  set("SET_UP", "3GiB");
  set("GPUTEST_MEMORY", "small"); // which somebody has declared
  EXPECT_EQ(run("undeclared", {"--gtest_filter=SetUp.*"}).exit_code, 1);
  unset("GPUTEST_MEMORY");
  auto watcher = start_program({GPUTEST_ENTRY_PROGRAM, "--watch", path_of("undeclared"), "--gtest_filter=SetUp.*"});
  watcher.wait_for_out("@set-up");
  watcher.say("go on");
  static_cast<void>(wait_for_one(policy::Stage::entering));
  EXPECT_EQ(other.finish().exit_code, 0);
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("attempt 3, sets up"));
  EXPECT_THAT(ended.err, HasSubstr("gputest: entry takes memory outside of its leases, for which there was "
                                   "no room beside other processes. It runs once more, alone. Only that counts"));
}

TEST_F(Undeclared, sets_up_of_suites_that_leave_no_room_for_a_lease_run_once_more_alone) {
  set("SET_UP", "2000MiB");
  std::vector<ChildProcess> watchers;
  for (int i = 0; i < 2; ++i) {
    watchers.push_back(
        start_program({GPUTEST_ENTRY_PROGRAM, "--watch", path_of("undeclared"), "--gtest_filter=SetUp.*"}));
    watchers.back().wait_for_out("@set-up");
  }
  for (auto& watcher : watchers) { // neither has room for 256 MiB more
    watcher.say("go on");
    watcher.wait_for_out("@set up");
  }
  for (auto& watcher : watchers) {
    watcher.close_input();
  }
  std::string messages;
  for (auto& watcher : watchers) {
    const Ended ended = watcher.finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    messages += ended.err;
  }
  EXPECT_EQ(count(messages, "It runs once more, alone. Only that counts"), 1U) << messages;
}

TEST_F(Undeclared, test_asks_for_no_more_than_its_own_process_leaves_of_a_device_whatever_was_learned) {
  set("SET_UP", "2GiB");
  set("GPUTEST_LEARNED", "3GiB"); // by another test of the entry
  const Ended ended = run("undeclared", {"--gtest_filter=SetUp.*"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
}

TEST_F(Undeclared, test_runs_once_more_alone_if_another_took_what_it_had_leased_without_a_lease) {
  set("GPUTEST_LEARNED", "3GiB");
  set("SET_UP", "2500MiB");
  for (const auto* const filter : {"Undeclared.stops", "Neighbour.keeps_to_its_lease"}) { // estimated, declared
    auto watcher = start_program(
        {GPUTEST_ENTRY_PROGRAM, "--watch", path_of("undeclared"), "--gtest_filter=" + std::string{filter}});
    watcher.wait_for_out("@");
    auto other = start_program({GPUTEST_ENTRY_PROGRAM, "--watch", path_of("undeclared"), "--gtest_filter=SetUp.*"});
    other.wait_for_out("@set-up");
    other.say("go on");
    other.wait_for_out("@set up");
    watcher.say("go on");
    static_cast<void>(wait_for_one(policy::Stage::entering));
    other.close_input();
    EXPECT_EQ(other.finish().exit_code, 0);
    watcher.close_input();
    const Ended ended = watcher.finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.err,
                HasSubstr(" ran out of memory within its lease of 3 GiB, while tests of other processes had 2.44 "
                          "GiB more than gputest had estimated for them. It runs once more, alone. "));
  }
}

TEST_F(Undeclared, test_runs_once_more_alone_if_another_gave_back_what_it_had_taken_before_the_failure) {
  set("GPUTEST_LEARNED", "3GiB");
  set("SET_UP", "2500MiB");
  auto watcher = start_watched("fails_late");
  watcher.wait_for_out("@leased");
  auto other = start_program({GPUTEST_ENTRY_PROGRAM, "--watch", path_of("undeclared"), "--gtest_filter=SetUp.*"});
  other.wait_for_out("@set-up");
  other.say("go on");
  other.wait_for_out("@set up");
  watcher.say("go on");
  watcher.wait_for_out("@refused");
  other.kill(SIGKILL);
  static_cast<void>(other.finish());
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("ran out of memory within its lease of 3 GiB, while other processes had memory of "
                                   "its device without a lease. It runs once more, alone. "));
}

TEST_F(Undeclared, test_that_had_all_of_a_device_fails_by_itself) {
  const Ended ended = start_watched("fails_after_it_had_all").finish();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, Not(HasSubstr("once more")));
}

TEST_F(Undeclared, test_that_others_leave_no_room_without_a_lease_runs_once_more_alone) {
  const auto start_watched_set_up = [&](const std::string& size) {
    set("SET_UP", size);
    auto watcher = start_program({GPUTEST_ENTRY_PROGRAM, "--watch", path_of("undeclared"), "--gtest_filter=SetUp.*"});
    watcher.wait_for_out("@set-up");
    return watcher;
  };
  auto other = start_watched_set_up("2500MiB");
  set("GPUTEST_LEARNED", "3GiB");
  auto watcher = start_watched_set_up("1MiB");
  other.say("go on");
  other.wait_for_out("@set up");
  watcher.close_input();
  static_cast<void>(wait_for_one(policy::Stage::waiting)); // for 3 of 4 GiB
  other.close_input();                                     // it waits for 256 MiB, behind the first one
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("found no room for its lease, while other processes had memory of its device "
                                   "without a lease. It runs once more, alone. "));
  EXPECT_EQ(other.finish().exit_code, 0);
}

TEST_F(Undeclared, test_fails_before_it_takes_more_if_the_ledger_cannot_be_locked) {
  auto watcher = start_watched("stops");
  watcher.wait_for_out("@before");
  {
    std::string folder;
    for (const auto& entry : std::filesystem::directory_iterator{ledger()}) {
      folder = entry.path().filename().string().rfind("ledger-", 0) == 0 ? entry.path().string() : folder;
    }
    const os::Descriptor mutex{::open((folder + "/mutex").c_str(), O_RDWR | O_CLOEXEC)};
    struct flock lock {};
    lock.l_type = F_WRLCK;
    ASSERT_EQ(::fcntl(mutex.number(), F_SETLK, &lock), 0);
    watcher.say("go on");
    watcher.wait_for_err(
        "gputest: failed: entry: Undeclared.stops has an estimated lease, which has to grow before the "
        "test allocates more, and the ledger cannot be asked: cannot lock ");
  }
  const Ended ended = watcher.finish();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, Not(HasSubstr("@after")));
  EXPECT_THAT(ended.err, HasSubstr("process " + std::to_string(::getpid())));
}

/// What is killed leaves nothing: neither a process, nor a claim.
class UndeclaredKilled : public Undeclared, public ::testing::WithParamInterface<std::string> {};

TEST_P(UndeclaredKilled, at_any_step_leaves_nothing) {
  for (const bool kills_watcher : {true, false}) {
    auto holder = std::optional{start_holder()};
    auto watcher = start_watched("stops");
    watcher.wait_for_out("@before");
    pid_t test = process_beside(*holder);
    if (GetParam() != "before") {
      watcher.say("go on");
      test = wait_for_one(policy::Stage::waiting);
    }
    if (GetParam() == "after") {
      static_cast<void>(holder->finish());
      holder.reset();
      watcher.wait_for_out("@before");
      watcher.say("go on");
      watcher.wait_for_out("@after");
    }
    ::kill(kills_watcher ? watcher.pid() : test, SIGKILL);
    watcher.wait_for_end_of_streams();
    EXPECT_EQ(watcher.finish().signal, SIGKILL) << GetParam();
    while (entries().size() > (holder ? 1U : 0U) || os::state_of(test) != os::ProcessState::ended) {
      std::this_thread::yield();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, UndeclaredKilled, ::testing::Values("before", "waiting", "after"),
                         [](const auto& each) { return each.param; });

} // namespace
} // namespace gputest::tests
