// SPDX-License-Identifier: BSD-3-Clause
// Cases that ctest has run by workers, from the client's command line to ctest's summary.

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/user_folder.hpp"
#include "support/ctest_run.hpp"

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::tests {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

std::string contents_of(const std::string& path) { return os::contents_of(path).value_or(""); }

int count(const std::string& output, const std::string& text) {
  int found = 0;
  for (auto at = output.find(text); at != std::string::npos; at = output.find(text, at + 1)) {
    ++found;
  }
  return found;
}

/// Ends a process, which must not have ended before. (Of one that nobody waits for its exit status may be left.)
void end_running(pid_t pid) {
  EXPECT_NE(os::state_of(pid), os::ProcessState::ended) << pid;
  ::kill(pid, SIGKILL);
}

TEST_F(WorkerCase, runs_cases_one_after_another_in_one_process) {
  for (const char* const name : {"Host.a", "Plain.a", "Plain.b", "Plain.skips", "Plain.medium", "Plain.c"}) {
    add(name);
  }
  const auto results = run();
  for (const auto& [name, result] : results) {
    EXPECT_EQ(result.word, name == "Plain.skips" ? "Skipped" : "Passed") << name << result.output;
    EXPECT_EQ(result.processes, results.at("Plain.a").processes) << name;
    EXPECT_THAT(result.output, HasSubstr("Running 1 test from 1 test suite."));
  }
  EXPECT_EQ(results.size(), 6U);
  EXPECT_THAT(results.at("Plain.c").output, HasSubstr("@suite 5")); // each case sets its suite up
  for (const std::string name : {"Plain.a", "Plain.b", "Plain.medium"}) {
    EXPECT_THAT(results.at(name).output, HasSubstr("gputest: admitted " + name + ": "));
  }
}

TEST_F(WorkerCase, has_the_numbers_of_cuda_in_what_ctest_has_allocated) {
  set("GPUTEST_DEVICES", "simulated:2x4GiB,context=0");
  folder_write("spec.json", R"({"version": {"major": 1, "minor": 0},
                               "local": [{"gpus": [{"id": "1", "slots": 4}]}]})");
  add("Plain.says_what_ctest_has_allocated", "one", {}, "", "RESOURCE_GROUPS gpus:1");
  add("Plain.says_what_ctest_has_allocated", "two", {}, "", "RESOURCE_GROUPS gpus:2");
  auto results = run({"--resource-spec-file", path("spec.json")});
  EXPECT_THAT(results["one"].output, HasSubstr("@sees SIM-2x4096MiB-1, id:0,slots:1\n"));
  EXPECT_THAT(results["two"].output, HasSubstr("@sees SIM-2x4096MiB-1, id:0,slots:2\n"));
  EXPECT_EQ(results["one"].processes, results["two"].processes);
}

TEST_F(WorkerCase, leaves_a_case_the_signals_that_ctest_gives_it) {
  ::signal(SIGPIPE, SIG_DFL);
  add("Plain.has_the_usual_signals");
  EXPECT_EQ(run().at("Plain.has_the_usual_signals").word, "Passed");
}

TEST_F(WorkerCase, runs_in_a_worker_whatever_the_umask) { // which holds nothing back from root
  add("Plain.a");
  add("Plain.b");
  ASSERT_EQ(run().at("Plain.a").word, "Passed"); // makes the folders of ctest's own
  const mode_t usual = ::umask(0277);
  auto ctest = start_ctest({});
  ::umask(usual);
  const auto results = results_of(ctest.finish().out);
  for (const std::string name : {"Plain.a", "Plain.b"}) {
    EXPECT_EQ(results.at(name).word, "Passed") << results.at(name).output;
    EXPECT_THAT(results.at(name).output, Not(HasSubstr("in a process of its own")));
  }
}

/// Such as an entry whose command is a pipe of a shell.
TEST_F(WorkerCase, is_told_that_nobody_reads_its_output_any_more) {
  const auto entry = "GPUTEST_ENTRY=ctest GPUTEST_TEST=prints GPUTEST_TIMEOUT=100 '" ENTRY_PROGRAM "' '" CASES
                     "' --gtest_filter=Plain.prints_and_prints";
  add_command("prints", {"/bin/sh", "-c", std::string{"("} + entry + "; echo @ended with $? >&2) | true"});
  // By its own failure, or by the signal (128 + SIGPIPE), whichever reader is gone first.
  EXPECT_THAT(run().at("prints").output, AnyOf(HasSubstr("@ended with 1\n"), HasSubstr("@ended with 141\n")));
}

TEST_F(WorkerCase, removes_what_a_run_has_left_that_this_machine_has_not_outlived_and_nothing_of_another_container) {
  struct stat space {};
  ASSERT_EQ(::stat("/proc/self/ns/pid", &space), 0);
  add("Plain.a");
  ASSERT_EQ(run().at("Plain.a").word, "Passed"); // makes the folders above, for nobody else
  const pid_t gone = ::fork();
  if (gone == 0) {
    ::_exit(0);
  }
  ::waitpid(gone, nullptr, 0);
  const auto make = [&](pid_t pid, std::uint64_t pids) {
    const auto made =
        workers_folder() + "/made-by-" + std::to_string(::getpid()); // another run may remove what it knows
    fs::create_directories(made + "/worker_key");
    std::ofstream{made + "/worker_key/job-1"} << "left";
    auto folder = workers_folder() + "/" + std::to_string(pid) + "-1-" + std::to_string(pids);
    fs::rename(made, folder);
    return folder;
  };
  const auto of_nobody = make(gone, space.st_ino);
  const auto of_a_namesake = make(::getpid(), space.st_ino); // which was started at another time
  const auto of_another_container = make(gone, space.st_ino + 1);
  EXPECT_EQ(run().at("Plain.a").word, "Passed");
  EXPECT_FALSE(fs::exists(of_nobody));
  EXPECT_FALSE(fs::exists(of_a_namesake));
  EXPECT_TRUE(fs::remove_all(of_another_container) > 0);
}

TEST_F(WorkerCase, shows_what_its_worker_wrote_before_its_tests_with_the_first_case_alone) {
  set("WRITE_BEFORE_TESTS", "@written before");
  add("Plain.a");
  add("Crash.at_an_idle_end");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto results = run();
  const auto& first = results.at("Plain.a").output;
  ASSERT_NE(first.find("@written before\n"), std::string::npos) << first;
  EXPECT_LT(first.find("@written before\n"), first.find("@process "));
  EXPECT_EQ(first.find("@written before", first.find("@written before") + 1), std::string::npos);
  for (const std::string name : {"Crash.at_an_idle_end", "workers_end"}) {
    EXPECT_THAT(results.at(name).output, Not(HasSubstr("@written before"))) << name;
  }
  EXPECT_THAT(results.at("workers_end").output,
              AllOf(HasSubstr("@at the end\n"), HasSubstr("that had run 2 cases, Crash.at_an_idle_end last,")));
}

TEST_F(WorkerCase, shows_what_its_worker_wrote_between_two_cases_and_at_its_end_in_the_entry_that_ends_workers) {
  set("WRITE_FROM", path("text"));
  for (const std::string name : {"text", "text_answer"}) {
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
  }
  add("Plain.a");
  add_command("between", {"/bin/sh", "-c", "echo @between > text; cat text_answer"}, "DEPENDS Plain.a");
  add("Plain.b", "", {}, "", "DEPENDS between");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("Plain.b").processes, results.at("Plain.a").processes);
  EXPECT_EQ(results.at("workers_end").word, "Passed");
  EXPECT_THAT(results.at("workers_end").output,
              AllOf(HasSubstr("gputest: after Plain.a a worker of " CASES " wrote:\n@between\n"),
                    HasSubstr("gputest: after Plain.b a worker of " CASES " wrote:\n@environment ends\n")));
}

TEST_F(WorkerCase, runs_a_case_alone_whose_settings_its_worker_cannot_read_and_keeps_the_worker) {
  add("Plain.a");
  add("Plain.b", "wrong", {}, "GPUTEST_MEMORY=much");
  add("Plain.c");
  const auto results = run();
  const auto& wrong = results.at("wrong");
  EXPECT_EQ(wrong.word, "Failed");
  EXPECT_THAT(wrong.output, HasSubstr("gputest: wrong runs in a process of its own: GPUTEST_MEMORY"));
  EXPECT_EQ(wrong.processes.size(), 0U) << wrong.output;
  EXPECT_EQ(results.at("Plain.c").processes, results.at("Plain.a").processes);
}

TEST_F(WorkerCase, runs_a_case_alone_if_a_library_of_its_worker_was_built_anew) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's library has to be the first that is loaded";
#endif
  fs::copy_file(FAKE_DRIVER "/libcuda.so.1", path("library.so"));
  const std::string environment = "LD_PRELOAD=" + path("library.so");
  add("Plain.a", "before", {}, environment);
  add_command("rebuild", {"cp", "--remove-destination", FAKE_DRIVER "/libcuda.so.1", path("library.so")});
  add("Plain.b", "after", {}, environment);
  const auto results = run();
  EXPECT_EQ(results.at("after").word, "Passed");
  EXPECT_THAT(results.at("after").output,
              HasSubstr("after runs in a process of its own: " + path("library.so") + " has been built anew"));
}

TEST_F(WorkerCase, sets_environments_up_for_each_case_and_forgets_that_one_was_skipped) {
  add("Plain.a");
  add("Plain.needs_a_slice");
  for (const char* const name : {"first", "second", "third"}) {
    add("Environments.are_set_up", name);
  }
  auto results = run();
  EXPECT_EQ(results.at("Plain.needs_a_slice").word, "Skipped");
  results.erase("Plain.needs_a_slice");
  for (const auto& [name, result] : results) {
    EXPECT_EQ(result.word, "Passed") << name << result.output;
    EXPECT_EQ(result.processes, results.at("Plain.a").processes) << name << result.output;
  }
}

TEST_F(WorkerCase, deletes_environments_once_after_the_last_case_and_tells_listeners_of_each_end) {
  for (const auto& [last, exit_code] : {std::pair{"Environments.are_set_up", 0}, std::pair{"Plain.fails", 1}}) {
    for (const std::string option : {"--gtest_catch_exceptions=1", "--gtest_catch_exceptions=0", "--gtest_repeat=2"}) {
      set("GPUTEST_CASES", std::string{"Plain.a;Environments.are_set_up;"} + last);
      const auto ended = ChildProcess{{CASES, option}, environment()}.finish();
      EXPECT_EQ(ended.exit_code, exit_code) << option << ended.out;
      EXPECT_EQ(count(ended.out, "@told of the end"), 3) << option << ended.out;
      EXPECT_EQ(count(ended.out, "@environment ends"), 1) << option << ended.out;
      EXPECT_GT(ended.out.find("@environment ends"), ended.out.rfind("1 test from 1 test suite ran.")) << ended.out;
    }
  }
}

TEST_F(WorkerCase, runs_cases_that_sanitizers_check_and_shows_what_they_find_at_the_end) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the client is checked, too";
#endif
  const std::vector<std::string> cases{"Sanitized.a", "Sanitized.takes_memory", "Sanitized.has_a_thread",
                                       "Sanitized.skips", "Sanitized.leaks"};
  for (const std::string sanitizer : {"address", "undefined", "thread"}) {
    SCOPED_TRACE(sanitizer);
    const auto executable = SANITIZED "/" + sanitizer + "_suite";
    CTestRun one;
    for (const auto& name : cases) {
      one.add(name, "", {}, "", "", executable);
    }
    one.add_command("workers_end", {ENTRY_PROGRAM, "--end", executable});
    const auto results = one.run();
    for (const auto& name : cases) {
      EXPECT_EQ(results.at(name).word, name == "Sanitized.skips" ? "Skipped" : "Passed") << results.at(name).output;
      if (sanitizer != "thread") { // newer ones keep threads of their own, for which a worker may be replaced
        EXPECT_EQ(results.at(name).processes, results.at("Sanitized.a").processes) << results.at(name).output;
      }
    }
    const auto& end = results.at("workers_end");
    EXPECT_EQ(end.word, sanitizer == "address" ? "Failed" : "Passed") << end.output;
    EXPECT_EQ(end.output.find("LeakSanitizer: detected memory leaks") != std::string::npos, sanitizer == "address");
  }
}

TEST_F(WorkerCase, runs_cases_at_the_same_time_in_as_many_workers) {
  let_cases_meet("");
  const auto results = run({"-j2"});
  EXPECT_EQ(results.at("Plain.meets_the_other").word, "Passed");
  EXPECT_EQ(results.at("Plain.meets_the_first").word, "Passed");
  EXPECT_NE(results.at("Plain.meets_the_first").processes, results.at("Plain.meets_the_other").processes);
}

TEST_F(WorkerCase, starts_another_worker_beside_a_first_case_that_takes_longer_than_a_start) {
  let_cases_meet("");
  auto ctest = start_ctest({"-j2"});
  static_cast<void>(runners_of_next_case(ctest));
  // As if CUDA had begun to start just now, for ever.
  fs::last_write_time(meeting_folder_of(ctest.pid()) + "/start",
                      fs::file_time_type::clock::now() + std::chrono::hours{1});
  EXPECT_EQ(results_of(ctest.finish().out).at("Plain.meets_the_first").word, "Passed");
}

TEST_F(WorkerCase, gives_each_case_its_own_entry_settings_streams_and_report) {
  add("Plain.shows_what_it_has", "first", {"--gtest_output=xml:" + path("out/first.xml")}, "GPUTEST_MEMORY=1GiB");
  add("Plain.shows_what_it_has", "second", {"--gtest_output=xml:" + path("out/second.xml")});
  const auto results = run();
  for (const std::string name : {"first", "second"}) {
    const auto& result = results.at(name);
    EXPECT_THAT(result.output, HasSubstr("@entry " + name + " @memory " + (name == "first" ? "1GiB" : "none") +
                                         " @settings yes @folder " + folder()));
    EXPECT_THAT(result.output, HasSubstr("@err"));
    EXPECT_EQ(result.processes, results.at("first").processes);
    EXPECT_THAT(contents_of(path("out/" + name + ".xml")),
                AllOf(HasSubstr("name=\"shows_what_it_has\""), HasSubstr("<testsuites tests=\"1\"")));
  }
}

TEST_F(WorkerCase, writes_reports_of_both_formats_and_says_of_each_that_cannot_be_written) {
  folder_write("file", "");
  std::ofstream{path("case.xml")} << "of an earlier run";
  add("Plain.a", "xml", {"--gtest_output=xml:" + path("case.xml")});
  add("Plain.a", "json", {"--gtest_output=json:" + path("new/case.json")});
  add("Plain.a", "nowhere", {"--gtest_output=xml:" + path("file/case.xml")});
  const auto results = run();
  EXPECT_THAT(contents_of(path("case.xml")), HasSubstr("<testsuites tests=\"1\""));
  EXPECT_THAT(contents_of(path("new/case.json")), HasSubstr("\"tests\": 1,"));
  EXPECT_NE(results.at("json").processes, results.at("xml").processes);
  EXPECT_EQ(results.at("nowhere").processes, results.at("xml").processes);
  for (const std::string name : {"xml", "json"}) {
    EXPECT_EQ(results.at(name).word, "Passed");
    EXPECT_THAT(results.at(name).output, Not(HasSubstr("gputest: the report"))) << name;
  }
  EXPECT_THAT(results.at("nowhere").output,
              HasSubstr("gputest: the report cannot be written to " + path("file/case.xml") + ": Not a directory\n"));
}

TEST_F(WorkerCase, gives_ctest_the_peak_of_each_case) {
  add("Plain.takes_some");
  add("Plain.a");
  const auto results = run();
  EXPECT_EQ(results.at("Plain.a").processes, results.at("Plain.takes_some").processes);
  EXPECT_THAT(results.at("Plain.takes_some").output, HasSubstr("name=\"gputest_peak_mib\">100.000<"));
  EXPECT_THAT(results.at("Plain.a").output, HasSubstr("name=\"gputest_peak_mib\">0.000<"));
}

TEST_F(WorkerCase, fails_a_case_that_fails_in_a_used_process_and_skips_alone) {
  add("Plain.a");
  add("Plain.fails_in_a_used_process_and_skips_alone", "skips");
  auto result = run().at("skips");
  EXPECT_EQ(result.word, "Failed") << result.output;
  EXPECT_THAT(result.output, HasSubstr("gputest: dependence: skips was skipped alone, and failed after 1 case"));
  set("GPUTEST_DEPENDENCE", "show");
  EXPECT_EQ(run().at("skips").word, "Skipped");
}

TEST_F(WorkerCase, fails_a_case_that_fails_in_a_used_process_and_cannot_tell_it_to_its_supervisor) {
  add("Plain.a");
  add("Plain.fails_after_others_and_closes_all_files", "closes");
  const auto result = run().at("closes");
  EXPECT_EQ(result.word, "Failed") << result.output;
  EXPECT_THAT(result.output, HasSubstr("gputest: failed: closes failed in a worker"));
}

TEST_F(WorkerCase, uses_another_folder_without_the_usual_one) {
  // One below the ledger's, or one beside it. Both in one test: the end of one would take the other's folder away.
  const auto beside = os::user_folder() + ".1";
  add("Crash.at_an_idle_end");
  add("Plain.a");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  for (const std::string unusable : {"mode=755", "mode=700,uid=4242"}) { // by its mode, or as another user's
    folder_write("run",
                 "usual=" + os::user_folder() + "; for each in $usual=" + unusable + " " + beside +
                     "=mode=700; do mkdir -p -m 700 ${each%%=*} && mount -t tmpfs -o ${each#*=} none ${each%%=*} || "
                     "exit 253; done; exec \"$@\"");
    if (unusable != "mode=755") {
      set("GPUTEST_DIR", "");
    }
    auto command = command_of_ctest();
    command.insert(command.begin(), {"/usr/bin/env", "unshare", "-m", "/bin/sh", path("run")});
    const auto ended = ChildProcess{command, environment()}.finish();
    if (ended.exit_code == 253 || ended.exit_code == 1) { // of unshare
      GTEST_SKIP() << "this user may not mount a file system";
    }
    const auto results = results_of(ended.out);
    EXPECT_EQ(results.at("Plain.a").processes, results.at("Crash.at_an_idle_end").processes) << ended.out;
    EXPECT_EQ(results.at("Plain.a").word, "Passed") << ended.out;
    EXPECT_EQ(results.at("workers_end").word, "Failed") << unusable << ": it looks in the same folder";
  }
  ::rmdir(beside.c_str());
}

TEST_F(WorkerCase, writes_the_log_of_its_ctest_with_the_entry_of_each_case_and_why_a_worker_was_started) {
  set("GPUTEST_LOG", path("log"));
  add("Plain.a", "first");
  add("Plain.b", "second");
  add("Plain.leaks", "third", {}, "", "DEPENDS second");
  add("Plain.c", "fourth", {}, "", "DEPENDS third");
  auto ctest = start_ctest();
  const auto pid = ctest.pid();
  const auto results = results_of(ctest.finish().out);
  EXPECT_EQ(results.at("first").processes, results.at("second").processes);
  std::string logs;
  const std::string started = "\"started\":\"";
  for (const auto& file : fs::directory_iterator{path("log")}) {
    EXPECT_THAT(file.path().string(), HasSubstr("-" + std::to_string(pid) + ".jsonl"));
    logs += contents_of(file.path());
  }
  for (const std::string name : {"first", "second"}) {
    const auto line = logs.find("\"event\":\"test\"", logs.find("\"entry\":\"" + name + "\""));
    EXPECT_NE(line, std::string::npos) << name << logs;
  }
  std::vector<std::string> reasons;
  for (auto at = logs.find(started); at != std::string::npos; at = logs.find(started, at + 1)) {
    reasons.push_back(logs.substr(at + started.size(), logs.find('"', at + started.size()) - at - started.size()));
  }
  EXPECT_THAT(reasons, ElementsAre("for the first case", "because no other was left"));
}

TEST_F(WorkerCase, fails_a_case_that_leaves_memory_of_a_device_and_runs_the_next_in_another_worker) {
  add("Plain.leaks");
  add("Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("Plain.leaks").word, "Failed") << results.at("Plain.leaks").output;
  EXPECT_EQ(results.at("Plain.leaks").processes.size(), 1U) << "its process's first case does not run again";
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
  EXPECT_NE(results.at("Plain.b").processes, results.at("Plain.leaks").processes);
}

TEST_F(WorkerCase, runs_the_next_case_in_another_worker_when_undeclared_ones_have_left_more_than_a_small_test_has) {
  for (const std::string name : {"first", "second"}) {
    add("Undeclared.leaves_200_mib", name, {}, "GPUTEST_MEMORY=auto");
  }
  add("Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("second").word, "Passed") << results.at("second").output;
  EXPECT_EQ(results.at("first").processes, results.at("second").processes);
  EXPECT_NE(results.at("Plain.b").processes, results.at("second").processes);
  EXPECT_THAT(results.at("second").output, HasSubstr("changed its process: 400 MiB of device memory are left\n"));
}

TEST_F(WorkerCase, runs_the_next_case_in_the_same_worker_when_an_undeclared_one_has_freed_what_another_left) {
  for (const std::string name : {"first", "second"}) {
    add("Undeclared.exchanges_200_mib", name, {}, "GPUTEST_MEMORY=auto");
  }
  add("Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("first").processes, results.at("second").processes);
  EXPECT_EQ(results.at("Plain.b").processes, results.at("second").processes) << results.at("second").output;
}

TEST_F(WorkerCase, runs_by_a_new_worker_what_was_built_anew) {
  fs::copy_file(CASES, path("cases"));
  add("Plain.a", "before", {}, "", "", path("cases"));
  // It ends with a failure, and has run by itself; what counts is that the file is another one after it.
  folder_write("rebuild", "#!/bin/sh\ncp \"$1\" \"$2.new\" && mv \"$2.new\" \"$2\"\n");
  add_command("rebuild", {path("rebuild"), CASES, path("cases")});
  add("Plain.a", "after", {}, "", "", path("cases"));
  const auto results = run();
  EXPECT_EQ(results.at("rebuild").word, "Passed");
  EXPECT_EQ(results.at("before").word, "Passed");
  EXPECT_EQ(results.at("after").word, "Passed");
  EXPECT_NE(results.at("before").processes, results.at("after").processes);
  EXPECT_THAT(results.at("after").output, Not(HasSubstr("in a process of its own")));
}

TEST_F(WorkerCase, shows_what_a_case_writes_in_the_worker_and_what_it_writes_alone) {
  for (const std::string last : {"fails", "fails_otherwise_alone", "fails_and_dies_alone"}) {
    add("Plain.a", "before_" + last);
    add("Plain." + last, last, {}, "", "DEPENDS before_" + last);
  }
  const auto results = run({"-j1"});
  const auto& alike = results.at("fails").output;
  EXPECT_EQ(count(alike, ": Failure\n"), 2) << alike;
  const auto& otherwise = results.at("fails_otherwise_alone").output;
  EXPECT_EQ(count(otherwise, "@failure of case 2\n"), 1) << otherwise;
  EXPECT_EQ(count(otherwise, "@failure of case 1\n"), 1) << otherwise;
  const auto& dies = results.at("fails_and_dies_alone");
  EXPECT_THAT(dies.word, HasSubstr("Subprocess aborted"));
  EXPECT_EQ(count(dies.output, "@failure\n"), 2) << dies.output;
}

// Its second process is watched as its first one: it does not end before what it has left behind with its output open.
TEST_F(WorkerCase, that_runs_again_alone_waits_for_what_it_leaves_behind) {
  add("Plain.a", "before");
  add("Plain.fails_after_others_and_leaves_a_process_alone", "leaves", {}, "GPUTEST_TIMEOUT=1", "DEPENDS before");
  const auto results = run({"-j1"});
  EXPECT_EQ(results.at("leaves").word, "Failed") << results.at("leaves").output;
  EXPECT_THAT(results.at("leaves").output, HasSubstr("left processes behind"));
}

TEST_F(WorkerCase, shows_what_a_case_depends_on_if_it_passes_alone) {
  set("GPUTEST_LOG", path("log"));
  for (const std::string name : {"Plain.a", "Plain.poisons", "Plain.b", "Plain.c", "Plain.fails_if_poisoned"}) {
    add(name, "", {"--gtest_output=xml:" + path(name)});
  }
  auto results = run();
  const auto result = results.at("Plain.fails_if_poisoned");
  EXPECT_EQ(result.word, "Failed");
  EXPECT_THAT(contents_of(path("Plain.fails_if_poisoned")), HasSubstr("<failure ")) << "what counts is reported";
  EXPECT_THAT(result.output, HasSubstr("gputest: failed: Plain.fails_if_poisoned failed in a worker, which counts"));
  EXPECT_THAT(result.output, HasSubstr("gputest: dependence: Plain.fails_if_poisoned passed alone, and failed after 4 "
                                       "cases in one process. It depends on what ran before. To see it: cd "));
  const std::string option = "GPUTEST_CASES='Plain.poisons;Plain.fails_if_poisoned' ";
  EXPECT_THAT(result.output, HasSubstr(option));
  const auto at = result.output.find("cd ");
  const auto command = result.output.substr(at, result.output.find('\n', at) - at);
  const auto repeated = ChildProcess{{"/bin/sh", "-c", command}, environment()}.finish();
  EXPECT_EQ(repeated.exit_code, 1) << command << repeated.out;
  for (const auto& file : std::filesystem::directory_iterator{path("log")}) {
    EXPECT_EQ(count(contents_of(file.path()), "\"failed\""), 1)
        << "the search for what it depends on is no part of the run";
  }

  set("GPUTEST_DEPENDENCE", "show");
  EXPECT_EQ(run().at("Plain.fails_if_poisoned").word, "Passed");
}

TEST_F(WorkerCase, finds_a_case_that_passes_only_after_another_if_all_run_alone) {
  add("Plain.a");
  add("Plain.needs_an_earlier_case");
  EXPECT_EQ(run().at("Plain.needs_an_earlier_case").word, "Passed");
  set("GPUTEST_ISOLATION", "process");
  const auto results = run();
  EXPECT_EQ(results.at("Plain.needs_an_earlier_case").word, "Failed");
  EXPECT_NE(results.at("Plain.a").processes, results.at("Plain.needs_an_earlier_case").processes);
  EXPECT_THAT(results.at("Plain.a").output, Not(HasSubstr("in a process of its own"))) << "who set it knows";
}

TEST_F(WorkerCase, ends_by_the_signal_that_ended_its_case_and_no_other_case_fails) {
  for (const char* const name : {"Crash.by_segv", "Plain.a", "Crash.by_abort", "Plain.b"}) {
    add(name);
  }
  const auto results = run();
  EXPECT_THAT(results.at("Crash.by_segv").word, HasSubstr("Exception: SegFault"));
  EXPECT_EQ(results.at("Crash.by_segv").processes.size(), 1U); // it was its process's first
  EXPECT_THAT(results.at("Crash.by_segv").output,
              HasSubstr("gputest: failed: Crash.by_segv ended its process by the signal Segmentation fault\n"));
  EXPECT_THAT(results.at("Crash.by_abort").output,
              HasSubstr("gputest: Crash.by_abort ended its process by the signal Aborted\n"
                        "gputest: Crash.by_abort failed in a process that had run 1 case before it."));
  EXPECT_THAT(results.at("Crash.by_abort").word, HasSubstr("Subprocess aborted"));
  EXPECT_EQ(results.at("Crash.by_abort").processes.size(), 2U); // it was not, and crashes alone too
  EXPECT_EQ(results.at("Plain.a").word, "Passed");
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
}

TEST_F(WorkerCase, counts_the_signal_that_ended_its_case_though_gputest_has_stopped_another_process_of_it) {
  add("Crash.by_segv_beside_a_process_that_gputest_stops", "crashes");
  const auto result = run().at("crashes");
  EXPECT_THAT(result.word, HasSubstr("Exception: SegFault"));
  EXPECT_EQ(result.processes.size(), 1U) << result.output;
}

TEST_F(WorkerCase, does_not_blame_a_case_for_a_crash_that_it_does_not_have_alone_if_dependence_is_shown) {
  set("GPUTEST_DEPENDENCE", "show");
  add("Plain.poisons");
  add("Plain.crashes_if_poisoned");
  const auto result = run().at("Plain.crashes_if_poisoned");
  EXPECT_EQ(result.word, "Passed");
  EXPECT_THAT(result.output, HasSubstr("GPUTEST_CASES='Plain.poisons;Plain.crashes_if_poisoned'"));
  EXPECT_THAT(result.output, Not(HasSubstr("gputest: failed: ")));
}

TEST_F(WorkerCase, lets_no_executable_outlive_ctest_that_closes_all_files_before_its_tests) {
  set("CLOSE_ALL_AND_WAIT_AT", path("started"));
  ASSERT_EQ(::mkfifo(path("started").c_str(), 0600), 0);
  add("Plain.a");
  auto ctest = start_ctest();
  pid_t worker = 0;
  std::ifstream{path("started")} >> worker;
  ctest.kill(SIGKILL);
  wait_for_end_of(worker);
}

TEST_F(WorkerCase, fails_a_case_that_ends_its_process) {
  for (const char* const name : {"Crash.by_exit_0", "Plain.a", "Crash.by_quick_exit_0", "Crash.by_quick_exit_3"}) {
    add(name, "", {}, "", "FAIL_REGULAR_EXPRESSION \"no such text\"");
  }
  add("Crash.by_quick_exit_77");
  const auto results = run();
  EXPECT_EQ(results.at("Crash.by_quick_exit_77").word, "Failed") << results.at("Crash.by_quick_exit_77").output;
  EXPECT_EQ(results.at("Crash.by_exit_0").word, "Failed");
  EXPECT_EQ(results.at("Crash.by_quick_exit_0").word, "Failed") << "in the worker, and alone";
  EXPECT_EQ(results.at("Crash.by_quick_exit_3").word, "Failed");
  EXPECT_THAT(results.at("Crash.by_quick_exit_3").output, HasSubstr("ended its process with the exit code 3\n"));
  EXPECT_EQ(results.at("Plain.a").word, "Passed");
}

TEST_F(WorkerCase, runs_a_case_alone_if_a_listener_ends_its_process_when_it_has_passed) {
  set("EXIT_WHEN_TOLD", "Plain.");
  add("Plain.a");
  add("Plain.fails");
  const auto results = run();
  EXPECT_EQ(results.at("Plain.a").word, "Passed") << results.at("Plain.a").output;
  EXPECT_THAT(results.at("Plain.a").output,
              HasSubstr("gputest: Plain.a runs in a process of its own: its worker ended with the exit code 0 before "
                        "it reported the result"));
  EXPECT_EQ(results.at("Plain.fails").word, "Failed");
}

TEST_F(WorkerCase, keeps_the_report_of_a_case_whose_process_a_listener_ends_when_it_has_failed) {
  set("EXIT_WHEN_TOLD", "Plain.fails");
  for (const std::string name : {"Plain.a", "Plain.fails"}) {
    add(name, "", {"--gtest_output=xml:" + path("new/" + name)});
  }
  const auto result = run().at("Plain.fails");
  EXPECT_EQ(result.word, "Failed");
  EXPECT_EQ(result.processes.size(), 2U) << "it ran once more, which does not count";
  EXPECT_THAT(contents_of(path("new/Plain.fails")), HasSubstr("<failure "));
}

TEST_F(WorkerCase, takes_the_result_of_a_case_from_the_process_that_was_given_it) {
  add("Plain.a");
  add("Plain.fails_after_a_process_that_it_forked_has_returned", "forks");
  add("Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("forks").word, "Failed") << results.at("forks").output;
  EXPECT_EQ(results.at("Plain.b").word, "Passed") << results.at("Plain.b").output;
}

TEST_F(WorkerCase, prints_what_a_case_left_in_a_buffer_with_that_case) {
  add("Plain.leaves_what_it_prints_in_a_buffer", "prints");
  add("Plain.a");
  const auto results = run();
  EXPECT_THAT(results.at("prints").output, HasSubstr("@in a buffer"));
  EXPECT_EQ(results.at("Plain.a").processes, results.at("prints").processes) << results.at("Plain.a").output;
  EXPECT_THAT(results.at("Plain.a").output, Not(HasSubstr("@in a buffer")));
}

TEST_F(WorkerCase, does_not_call_a_failure_a_dependence_that_is_not_seen_again) {
  set("FAIL_ONCE", path("has_failed"));
  add("Plain.a");
  add("Plain.fails_once");
  const auto result = run().at("Plain.fails_once");
  EXPECT_EQ(result.word, "Failed");
  EXPECT_THAT(result.output,
              HasSubstr("gputest: unstable: Plain.fails_once passed alone, and failed after 1 case in one "
                        "process. It did not fail again after them within 10 s"));
  EXPECT_THAT(result.output, Not(HasSubstr("dependence:")));
}

TEST_F(WorkerCase, blames_a_crash_at_the_end_on_the_last_case_and_on_nobody_else) {
  for (const char* const name : {"Plain.a", "Crash.at_the_end", "Plain.b"}) {
    add(name);
  }
  const auto results = run();
  EXPECT_THAT(results.at("Crash.at_the_end").word, HasSubstr("Subprocess aborted"));
  EXPECT_EQ(results.at("Plain.a").word, "Passed");
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
}

TEST_F(WorkerCase, shares_a_worker_with_those_that_require_the_same_fixtures_until_these_have_ended) {
  const std::string of_an_entry = "ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_TEST=with_db\"";
  add("Plain.a");
  add_command("with_db", {ENTRY_PROGRAM, "--fixtures=db", CASES, "--gtest_filter=Plain.b"}, of_an_entry);
  add_command("end_with_db", {ENTRY_PROGRAM, "--end", CASES, "", "db"});
  add("Plain.c");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES, "", ""});
  const auto results = run({"-j1"});
  EXPECT_EQ(results.at("Plain.c").processes, results.at("Plain.a").processes);
  EXPECT_THAT(results.at("end_with_db").output, HasSubstr("1 case of " CASES " had 1 worker:"));
  EXPECT_THAT(results.at("workers_end").output, HasSubstr("2 cases of " CASES " had 1 worker:"));
}

TEST_F(WorkerCase, fails_the_entry_that_ends_workers_for_what_fails_at_their_end) {
  add("Crash.at_an_idle_end", "", {}, "", "FIXTURES_REQUIRED workers");
  add("Plain.a", "", {}, "OTHER=1", "FIXTURES_REQUIRED workers"); // another worker key
  add("Plain.b", "", {}, "OTHER=1", "FIXTURES_REQUIRED workers");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES, path("long.txt")},
              "FIXTURES_CLEANUP workers ENVIRONMENT GPUTEST_TEST=workers_end");
  auto results = run();
  EXPECT_EQ(results.at("Crash.at_an_idle_end").word, "Passed");
  const auto end = results.at("workers_end");
  EXPECT_EQ(end.word, "Failed") << end.output;
  EXPECT_THAT(end.output, HasSubstr("@at the end\n")) << "what the process wrote";
  EXPECT_THAT(end.output, HasSubstr("gputest: failed: a process of " CASES
                                    " that had run 1 case, Crash.at_an_idle_end last, ended by the signal Aborted"));
  EXPECT_THAT(end.output, HasSubstr("GPUTEST_ISOLATION=process")) << "what to do";
  EXPECT_THAT(end.output, Not(HasSubstr("Plain.b last")));

  const auto log = path("Testing/Temporary/LastTestsFailed.log");
  std::filesystem::rename(log, path("Testing/Temporary/LastTestsFailed_1.log")); // as `ctest -T Test` calls it
  results = run({"--rerun-failed"});
  EXPECT_EQ(results.size(), 1U) << "the cases had passed";
  EXPECT_EQ(results.at("workers_end").word, "Failed");
  EXPECT_THAT(results.at("workers_end").output,
              HasSubstr("nothing shows that their workers end as they should now. Run them again: ctest --test-dir " +
                        folder() + "\n"));
  std::ofstream{log} << "2:Plain.a\n"; // which has failed since
  std::vector<std::string> logs;       // as ctest finds them
  for (const auto& file : fs::directory_iterator{path("Testing/Temporary")}) {
    if (file.path().filename().string().rfind("LastTestsFailed", 0) == 0) {
      logs.push_back(file.path());
    }
  }
  ASSERT_EQ(logs.size(), 2U);
  std::ofstream{logs.front()} << "4:workers_end\n";
  std::ofstream{logs.back()} << "2:Plain.a\n";
  fs::last_write_time(logs.front(), fs::last_write_time(logs.back()) - std::chrono::milliseconds{1});
  EXPECT_THAT(run({"--rerun-failed"}).at("workers_end").output,
              HasSubstr("gputest: failed: it failed in the run before"));
  fs::remove(path("Testing/Temporary/LastTestsFailed_1.log"));
  std::ofstream{log} << "2:Plain.a\n";
  EXPECT_EQ(run({"--rerun-failed"}).at("workers_end").word, "Passed");
  results = run({"-R", "Plain.a"});
  EXPECT_EQ(results.at("workers_end").word, "Passed") << results.at("workers_end").output;
  std::ofstream{log} << "2:Plain.a\n4:workers_end\n"; // neither has run, because a fixture's set-up failed
  EXPECT_EQ(run({"--rerun-failed"}).at("workers_end").word, "Passed");
  std::ofstream{path("long.txt-failed")}; // ctest was killed while the entry ran, and has not said that it failed
  fs::last_write_time(log, fs::last_write_time(path("long.txt-failed")) - std::chrono::seconds{1});
  EXPECT_EQ(run({"--rerun-failed"}).at("workers_end").word, "Passed");
  fs::create_symlink("missing/mark", path("long.txt-failed")); // where no mark can be made
  std::ofstream{log} << "2:Plain.a\n4:workers_end\n";
  EXPECT_EQ(run({"--rerun-failed"}).at("workers_end").word, "Failed");
  set("GPUTEST_ISOLATION", "process");
  EXPECT_EQ(run({"-R", "Plain.a"}).at("workers_end").word, "Passed") << "there were no workers";
}

TEST_F(WorkerCase, fails_the_entry_that_ends_workers_for_what_an_earlier_case_has_left_whatever_comes_of_the_last_one) {
  const std::string abort = "Crash.at_an_idle_end";
  const std::string code = "Crash.by_code_66_at_an_idle_end";
  for (const auto& [earlier, last, word] :
       std::vector<std::array<std::string, 3>>{{abort, "Changes.folder", "Passed"},
                                               {abort, "Changes.environments", "Skipped"},
                                               {code, "Changes.environments", "Skipped"}}) {
    CTestRun one;
    one.add(earlier);
    one.add(last);
    one.add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
    const auto results = one.run();
    EXPECT_EQ(results.at(earlier).word, "Passed");
    EXPECT_EQ(results.at(last).word, word);
    EXPECT_EQ(results.at("workers_end").word, "Failed") << earlier << " " << last;
    EXPECT_THAT(results.at("workers_end").output,
                HasSubstr((earlier == abort ? "by the signal Aborted" : "with the exit code 66") +
                          (" at its end, after " + last + ". The output of " + last + " has what it wrote")));
  }
}

TEST_F(WorkerCase, shows_how_a_process_ends_after_the_cases_before_one_in_which_their_worker_ended) {
  for (const auto& [last, word] :
       std::vector<std::pair<std::string, std::string>>{{"Host.closes_all_files", "Passed"},
                                                        {"Crash.after_others", "Passed"},
                                                        {"Crash.by_quick_exit_0", "Failed"},
                                                        {"Crash.by_code_66_at_an_idle_end_and_fails", "Failed"},
                                                        {"Plain.stops_its_supervisor", "Failed"}}) {
    for (const std::string earlier : {"Plain.is_in_its_folder", "Crash.at_an_idle_end"}) {
      CTestRun one;
      one.set("GPUTEST_DEPENDENCE", "show");
      one.add(earlier);
      one.add(last, "", {}, "GPUTEST_TIMEOUT=2");
      one.add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
      const auto results = one.run();
      EXPECT_EQ(results.at(last).word, word) << last << results.at(last).output;
      const auto& end = results.at("workers_end");
      EXPECT_EQ(end.word, earlier == "Crash.at_an_idle_end" ? "Failed" : "Passed") << earlier << last << end.output;
      EXPECT_THAT(end.output, HasSubstr(": the cases before it ran once more at the end\n")) << last;
      EXPECT_EQ(end.output.find("by the signal Aborted") != std::string::npos, end.word == "Failed") << end.output;
    }
  }
}

TEST_F(WorkerCase, shows_how_a_process_ends_after_cases_before_one_that_hides_it) {
  for (const std::string last : {"Hides.by_a_handler", "Hides.by_ignoring_and_fails", "Hides.by_a_mask",
                                 "Hides.by_an_exit_handler", "Hides.by_quick_exit", "Hides.by_another_program"}) {
    for (const std::string earlier : {"Plain.is_in_its_folder", "Crash.by_a_signal_at_an_idle_end"}) {
      CTestRun one;
      one.add(earlier);
      one.add(last);
      one.add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
      const auto results = one.run();
      EXPECT_EQ(results.at(earlier).word, "Passed") << results.at(earlier).output;
      EXPECT_EQ(results.at(last).word, last == "Hides.by_ignoring_and_fails" ? "Failed" : "Passed") << last;
      const auto& end = results.at("workers_end");
      EXPECT_EQ(end.word, earlier == "Plain.is_in_its_folder" ? "Passed" : "Failed") << earlier << last << end.output;
      EXPECT_THAT(end.output, HasSubstr(": its exit() did not come to its end, or had other handlers of signals\n"));
      EXPECT_EQ(end.output.find("by the signal Terminated") != std::string::npos, end.word == "Failed") << end.output;
    }
  }
}

TEST_F(WorkerCase, shows_how_a_process_ends_after_cases_beside_several_that_hide_it) {
  add("Crash.by_a_signal_at_an_idle_end");
  add("Hides.by_an_exit_handler");
  add("Hides.by_quick_exit");
  add("Plain.a");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto end = run().at("workers_end");
  EXPECT_EQ(end.word, "Failed");
  EXPECT_THAT(end.output, HasSubstr("gputest: the process ended by the signal Terminated"));
}

TEST_F(WorkerCase, runs_no_case_once_more_in_an_executable_whose_exit_never_comes_to_its_end) {
  set("LEAVE_EXIT", "1");
  add("Plain.passes_once");
  add("Plain.b");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto results = run();
  EXPECT_EQ(results.at("workers_end").word, "Passed") << results.at("workers_end").output;
  EXPECT_THAT(results.at("workers_end").output,
              AllOf(HasSubstr(": its exit() did not come to its end"), Not(HasSubstr("ran once more"))));
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
}

TEST_F(WorkerCase, runs_cases_once_more_at_the_end_with_memory_for_each_of_them) {
  set("GPUTEST_DEPENDENCE", "show");
  set("GPUTEST_OVERUSE", "stop");
  add("Plain.a", "", {}, "GPUTEST_MEMORY=64MiB");
  add("Undeclared.takes_most", "", {}, "GPUTEST_MEMORY=auto");
  add("Crash.after_others");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto end = run().at("workers_end");
  EXPECT_THAT(end.output, HasSubstr("ran once more at the end\n"));
  EXPECT_EQ(end.word, "Passed") << end.output;
}

TEST_F(WorkerCase, runs_cases_once_more_at_the_end_for_as_long_as_all_of_them_may_take) {
  set("GPUTEST_DEPENDENCE", "show");
  add("Plain.a", "", {}, "GPUTEST_TIMEOUT=1");
  add("Plain.takes_five_seconds", "", {}, "GPUTEST_TIMEOUT=1000");
  add("Crash.after_others", "", {}, "GPUTEST_TIMEOUT=1");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto end = run().at("workers_end");
  EXPECT_THAT(end.output, HasSubstr("ran once more at the end\n"));
  EXPECT_EQ(end.word, "Passed") << end.output;
}

TEST_F(WorkerCase, leaves_to_run_what_earlier_cases_have_left_when_the_time_of_their_second_run_is_over) {
  add("Plain.leaves_a_process_without_a_parent", "leaves", {}, "GPUTEST_TIMEOUT=1");
  add("Plain.ends_once", "", {}, "GPUTEST_TIMEOUT=1");
  add("Plain.blocks", "", {}, "GPUTEST_TIMEOUT=1");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto results = run();
  EXPECT_EQ(results.at("workers_end").word, "Failed");
  EXPECT_THAT(results.at("workers_end").output, HasSubstr("Plain.ends_once has run for 2 s"));
  const auto& output = results.at("leaves").output;
  end_running(std::stoi(output.substr(output.find("@orphan ") + 8)));
}

TEST_F(WorkerCase, does_not_fail_by_a_run_that_was_to_show_how_its_process_ends) {
  for (const std::string first : {"Plain.a", "Crash.at_an_idle_end"}) {
    CTestRun one;
    one.set("GPUTEST_DEPENDENCE", "show");
    one.add(first);
    one.add("Plain.passes_once");
    one.add("Crash.after_others");
    one.add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
    const auto end = one.run().at("workers_end");
    EXPECT_EQ(end.word, first == "Plain.a" ? "Passed" : "Failed");
    EXPECT_THAT(end.output,
                HasSubstr(first == "Plain.a" ? "gputest: of 2 cases that had passed in a worker, Plain.passes_once "
                                               "last, some failed when they ran once more. That does not count: "
                                             : "by the signal Aborted"));
  }
}

TEST_F(WorkerCase, leaves_no_failure_behind_that_passed_when_it_was_repeated) {
  add("Plain.a");
  add("Crash.after_others");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto results = run({"--repeat", "until-pass:2"});
  EXPECT_EQ(results.at("Crash.after_others").times, 2);
  for (const auto& [name, result] : results) {
    EXPECT_EQ(result.word, "Passed") << name << result.output;
  }
}

TEST_F(WorkerCase, fails_the_entry_that_ends_workers_if_a_supervisor_was_killed) {
  add("Plain.a");
  add("Crash.of_its_supervisor_after_others");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto end = run().at("workers_end");
  EXPECT_EQ(end.word, "Failed");
  EXPECT_THAT(end.output,
              HasSubstr("nobody has seen the end of a process of " CASES " that had run 1 case, Plain.a last: "));
}

TEST_F(WorkerCase, runs_a_case_alone_if_its_worker_cannot_note_it_before_it_passes) {
  let_cases_meet();
  add("Plain.meets_the_first");
  auto ctest = start_ctest();
  const rlimit none{0, 0};
  ASSERT_EQ(::prlimit(runners_of_next_case(ctest).supervisor, RLIMIT_FSIZE, &none, nullptr), 0);
  const std::fstream other{path("meeting")}; // which lets it pass, also alone
  const auto result = results_of(ctest.finish().out).at("Plain.meets_the_first");
  EXPECT_EQ(result.word, "Passed");
  EXPECT_EQ(result.processes.size(), 2U);
  EXPECT_THAT(result.output, HasSubstr("Plain.meets_the_first runs in a process of its own: there is no room in "));
}

TEST_F(WorkerCase, fails_and_says_why_where_it_may_write_no_file) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a program with ThreadSanitizer writes a file when it starts";
#endif
  add_command("limited", {"/bin/sh", "-c",
                          "ulimit -f 0; GPUTEST_ENTRY=ctest GPUTEST_TEST=limited exec '" ENTRY_PROGRAM "' '" CASES
                          "' --gtest_filter=Plain.a"});
  EXPECT_THAT(run().at("limited").output, AllOf(HasSubstr("gputest: failed: "), HasSubstr("File too large")));
}

TEST_F(WorkerCase, fails_by_what_a_session_before_main_has_done_as_in_a_process_of_its_own) {
  set("SESSION_BEFORE_TESTS", "yes");
  add("Plain.a");
  add("Plain.b");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto results = run();
  for (const auto& result : {results.at("Plain.a"), results.at("Plain.b")}) {
    EXPECT_EQ(result.word, "Failed") << result.output;
    EXPECT_THAT(result.output, HasSubstr(" runs in a process of its own: it has a gputest::Session before its tests"));
    EXPECT_THAT(result.output, HasSubstr("before main() took 1 GiB, and its lease is 256 MiB"));
  }
  EXPECT_EQ(results.at("workers_end").word, "Passed") << results.at("workers_end").output;
}

TEST_F(WorkerCase, starts_no_second_worker_where_one_ended_before_its_first_case_and_shows_what_it_wrote) {
  set("END_BEFORE_FIRST_CASE", "yes");
  add("Plain.a");
  add("Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("Plain.a").word, "Passed");
  EXPECT_THAT(
      results.at("Plain.a").output,
      HasSubstr("gputest: Plain.a runs in a process of its own: its worker ended with the exit code 66 before it "
                "began its first case. It wrote:\n@ended too soon\n"));
  EXPECT_THAT(results.at("Plain.b").output, Not(HasSubstr("@ended too soon")));
  EXPECT_THAT(results.at("Plain.b").output,
              HasSubstr("gputest: Plain.b runs in a process of its own: its worker ended"));
}

TEST_F(WorkerCase, uses_no_workers_any_more_if_each_case_changes_its_process_and_counts_them_at_the_end) {
  for (int i = 0; i < 10; ++i) {
    add("Changes.variables", "changes_" + std::to_string(i));
  }
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  add("Plain.a", "", {}, "", "DEPENDS workers_end");
  const auto results = run();
  EXPECT_THAT(
      results.at("workers_end").output,
      HasSubstr("gputest: 10 cases of " CASES " had 10 workers: 10 ended after a case that changed its process\n"));
  EXPECT_THAT(results.at("Plain.a").output,
              HasSubstr("gputest: Plain.a runs in a process of its own: 10 workers have run only 10 cases, because"));
}

TEST_F(WorkerCase, may_take_as_long_to_end_as_the_longest_of_its_cases) {
  for (const auto& [limit, word] : std::map<std::string, std::string>{{"1", "Failed"}, {"1000", "Passed"}}) {
    CTestRun one;
    ASSERT_EQ(::mkfifo(one.path("end").c_str(), 0600), 0);
    one.set("END_AT", one.path("end"));
    one.add("Plain.a", "", {}, "GPUTEST_TIMEOUT=1");
    one.add("Plain.b", "", {}, "GPUTEST_TIMEOUT=" + limit);
    one.add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS Plain.b");
    one.add_command("opens", {"/bin/sh", "-c", "sleep 4; exec 3<>" + one.path("end") + "; sleep 1"}, "DEPENDS Plain.b");
    const auto end = one.run({"-j2"}).at("workers_end");
    EXPECT_EQ(end.word, word) << limit << end.output;
    const auto was_killed =
        end.output.find("ended only by SIGKILL, when the time limit of its cases (TIMEOUT)") != std::string::npos;
    EXPECT_EQ(was_killed, limit == "1") << end.output;
  }
}

TEST_F(WorkerCase, fails_the_entry_that_ends_workers_if_main_runs_the_tests_twice_and_no_other_executables) {
  add("Twice.fails_the_second_time", "", {}, "", "", TWICE);
  add("Plain.a");
  add_command("end_of_cases", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS \"Plain.a;Twice.fails_the_second_time\"");
  add_command("end_of_twice", {ENTRY_PROGRAM, "--end", TWICE}, "DEPENDS end_of_cases");
  const auto results = run();
  EXPECT_EQ(results.at("end_of_cases").word, "Passed") << results.at("end_of_cases").output;
  EXPECT_EQ(results.at("end_of_twice").word, "Failed");
  EXPECT_THAT(results.at("end_of_twice").output,
              HasSubstr("failed: main() calls gputest::run_all_tests() more than once, and only the first"));
}

TEST_F(WorkerCase, lists_the_cases_that_took_long_when_they_ran_last) {
  add("Plain.takes_five_seconds", "", {}, "", "FIXTURES_REQUIRED workers");
  add_command("was_long", {ENTRY_PROGRAM, "--long", CASES, "--gtest_filter=Plain.a"},
              "FIXTURES_REQUIRED workers ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_TEST=was_long\"");
  add("Plain.b", "", {}, "", "FIXTURES_REQUIRED workers");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES, path("long")}, "FIXTURES_CLEANUP workers");
  std::ofstream{path("long")} << "not_run\nwas_long\n";
  const auto results = run({"-j3"});
  EXPECT_EQ(results.at("was_long").word, "Passed") << results.at("was_long").output;
  EXPECT_EQ(os::contents_of(path("long")), "not_run\nPlain.takes_five_seconds\n");
}

TEST_F(WorkerCase, passes_the_entry_that_ends_workers_if_its_cases_are_those_of_other_shards) {
  for (const char* const name : {"Plain.a", "Plain.b"}) {
    add(name, "", {}, "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=1");
  }
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto results = run();
  EXPECT_EQ(results.at("Plain.a").word, "Skipped");
  EXPECT_EQ(results.at("Plain.b").word, "Skipped");
  EXPECT_EQ(results.at("workers_end").word, "Passed");
  EXPECT_THAT(results.at("workers_end").output,
              HasSubstr("2 cases of " CASES " had 1 worker: 1 ended when there were"));
}

TEST_F(WorkerCase, skips_the_entry_that_ends_workers_if_there_was_none) {
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "SKIP_RETURN_CODE 77");
  const auto result = run().at("workers_end");
  EXPECT_EQ(result.word, "Skipped");
  EXPECT_THAT(result.output, HasSubstr("gputest: skipped: no worker of " CASES " has run"));
  set("GPUTEST_ISOLATION", "process");
  EXPECT_EQ(run().at("workers_end").word, "Passed");
}

TEST_F(WorkerCase, runs_a_case_alone_that_had_passed_when_its_time_was_over_at_the_end_of_a_used_process_only) {
  set("END_AT", path("end")); // nobody opens it
  ASSERT_EQ(::mkfifo(path("end").c_str(), 0600), 0);
  const std::string fails_by = "FAIL_REGULAR_EXPRESSION \"gputest: timed out:\"";
  add("Changes.folder", "first", {}, "GPUTEST_TIMEOUT=1", fails_by);
  add("Plain.a");
  add("Changes.folder", "second", {}, "GPUTEST_TIMEOUT=1", fails_by);
  const auto results = run();
  EXPECT_NE(results.at("first").word, "Passed");
  EXPECT_THAT(results.at("first").output, HasSubstr("gputest: timed out: first"));
  EXPECT_EQ(results.at("first").processes.size(), 1U);
  EXPECT_EQ(results.at("second").processes.size(), 2U);
}

/// As by a script that calls ctest_test() again.
TEST_F(WorkerCase, starts_anew_after_the_entry_that_ends_workers) {
  add("Crash.at_an_idle_end");
  add_command("first_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS Crash.at_an_idle_end");
  add("Plain.a", "", {}, "OTHER=1", "DEPENDS first_end"); // another worker key, as after another build
  add("Plain.b", "", {}, "OTHER=1", "DEPENDS Plain.a");
  add_command("second_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("first_end").word, "Failed");
  EXPECT_EQ(results.at("Plain.b").processes, results.at("Plain.a").processes);
  EXPECT_EQ(results.at("second_end").word, "Passed") << results.at("second_end").output;
}

TEST_F(WorkerCase, writes_the_report_where_the_case_began_if_the_case_leaves_that_folder) {
  add("Changes.folder", "", {"--gtest_output=xml:reports/case.xml"});
  EXPECT_EQ(run().at("Changes.folder").word, "Passed");
  EXPECT_TRUE(std::filesystem::exists(path("reports/case.xml")));
}

TEST_F(WorkerCase, ends_workers_before_the_entry_that_ends_them_has_ended) {
  add("Plain.a", "", {}, "", "FIXTURES_REQUIRED workers");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "FIXTURES_CLEANUP workers");
  add_command("looks", {"/bin/sh", "-c", "echo @still there; cat " + path("gate")}, "DEPENDS workers_end");
  ASSERT_EQ(::mkfifo(path("gate").c_str(), 0600), 0);
  auto ctest = start_ctest();
  const auto worker = runners_of_next_case(ctest).worker;
  ctest.wait_for_out(": @still there");
  EXPECT_EQ(::kill(worker, 0), -1);
  std::ofstream{path("gate")} << "open\n";
  EXPECT_EQ(results_of(ctest.finish().out).at("workers_end").word, "Passed");
}

TEST_F(WorkerCase, ends_a_worker_after_a_case_that_changed_its_process) {
  std::map<std::string, std::string> rows{
      {"alarm", "changed its process: an alarm\n"},
      {"reporter", "a ScopedFakeTestPartResultReporter is left, which hides failures"},
      {"limit", "a resource limit"},
      {"environments", "an Environment has skipped its tests"},
      {"properties", "a property was recorded outside of its test"},
      {"results", "a check has failed outside of tests, after GoogleTest had its result"},
      {"folder", "the working directory"},
      {"descriptors", " (/dev/null) is open"},
      {"files", " is another file: /dev/null in place of /dev/zero"},
      {"streams", "descriptor 1 ("},
      {"output", "descriptor 1 is another file: /dev/null in place of "},
      {"mask", "the umask"},
      {"rounding", "the floating-point mode"},
      {"locale", "the locale"},
      {"handler", "has another handler"},
      {"blocked_signals", "is blocked"},
      {"variables", "the environment variable SET_BY_A_CASE"},
      {"processes", "the processes that it has started"},
  };
#if !defined(__SANITIZE_THREAD__) // it has threads of its own
  rows["threads"] = "2 threads run, and 1 ran before it";
#endif
  if (::geteuid() == 0) {
    rows["group"] = "the user or group";
  }
  if (std::thread::hardware_concurrency() > 1) {
    rows["processors"] = "the processors on which it may run";
  }
  add("Plain.a", "first"); // what a process opens when it enters the ledger is no change
  for (const auto& [name, text] : rows) {
    add("Changes." + name);
    add("Plain.a", "after_" + name);
  }
  const auto results = run();
  for (const auto& [name, text] : rows) {
    const auto& changing = results.at("Changes." + name);
    EXPECT_EQ(changing.word, name == "environments" ? "Skipped" : "Passed") << name << changing.output;
    EXPECT_THAT(changing.output, HasSubstr(text));
    EXPECT_THAT(changing.output, HasSubstr("the next case runs in another process than this one, because it changed"));
    EXPECT_NE(results.at("after_" + name).processes, changing.processes) << name;
    EXPECT_EQ(results.at("after_" + name).word, "Passed") << name;
  }
}

/// The C library's own streams may be closed, which no descriptor shows.
TEST_F(WorkerCase, gives_a_case_its_own_streams_and_another_worker_where_the_one_before_it_has_turned_its_own_away) {
  add("Plain.turns_its_streams_away", "turns");
  add("Plain.shows_what_it_has", "after");
  const auto results = run();
  EXPECT_NE(results.at("after").processes, results.at("turns").processes);
  EXPECT_THAT(results.at("after").output, HasSubstr("@entry after"));
  EXPECT_THAT(results.at("after").output, HasSubstr("@err"));
}

TEST_F(WorkerCase, ends_a_worker_after_a_case_that_changed_its_devices_and_says_what) {
  set("GPUTEST_DEVICES", "all");
  set("LD_LIBRARY_PATH", FAKE_DRIVER);
  set("FAKE_CUDA_WAS_LOADED", "1"); // as the driver sets it when it is loaded
  set("FAKE_NVML", "gpus=1");
  add("OnDriver.begins");
  add("OnDriver.changes_nothing");
  add("OnDriver.sets_a_limit");
  add("OnDriver.begins", "begins_again");
  add("OnDriver.changes_the_device");
  add("OnDriver.changes_nothing", "after");
  const auto results = run();
  for (const auto& [name, result] : results) {
    EXPECT_EQ(result.word, "Passed") << name << result.output;
  }
  const auto& first = results.at("OnDriver.begins").processes;
  EXPECT_EQ(results.at("OnDriver.changes_nothing").processes, first);
  EXPECT_EQ(results.at("OnDriver.sets_a_limit").processes, first);
  EXPECT_NE(results.at("begins_again").processes, first);
  EXPECT_NE(results.at("after").processes, results.at("OnDriver.changes_the_device").processes);
  EXPECT_THAT(results.at("OnDriver.sets_a_limit").output,
              HasSubstr("because it changed its process: cudaLimitPrintfFifoSize of device 0 is 1, in place of 0"));
  EXPECT_THAT(results.at("OnDriver.changes_the_device").output,
              HasSubstr("because it changed its process: device 1 is the current one, in place of 0"));
}

TEST_F(WorkerCase, takes_what_a_driver_opens_and_starts_when_it_begins_for_no_change_by_the_case) {
  set("GPUTEST_DEVICES", "all");
  set("LD_LIBRARY_PATH", FAKE_DRIVER);
  set("FAKE_CUDA_WAS_LOADED", "1");
  set("FAKE_NVML", "gpus=1");
  add("Plain.a");
  add("OnDriver.begins_with_a_file_and_a_thread", "begins");
  add("Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("begins").processes, results.at("Plain.a").processes);
  EXPECT_EQ(results.at("Plain.b").processes, results.at("begins").processes) << results.at("begins").output;
}

TEST_F(WorkerCase, takes_what_gputest_opens_when_it_looks_for_devices_and_has_none_for_no_change_by_the_case) {
  set("CUDA_VISIBLE_DEVICES", "");
  add("Plain.a");
  const auto result = run().at("Plain.a");
  EXPECT_EQ(result.word, "Skipped") << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("the next case runs in another process")));
}

TEST_F(WorkerCase, ends_processes_that_keep_the_output_of_a_case_when_its_limit_is_over) {
  add("Plain.a");
  add("Plain.leaves_a_process_with_its_output", "leaves", {}, "GPUTEST_TIMEOUT=1");
  add("Plain.b");
  const auto results = run();
  EXPECT_EQ(results.at("leaves").word, "Failed");
  EXPECT_THAT(results.at("leaves").output,
              AllOf(HasSubstr("gputest: timed out: leaves has ended and left processes behind that hold its output"),
                    Not(HasSubstr("gputest does not kill them"))));
  EXPECT_EQ(results.at("Plain.b").processes, results.at("Plain.a").processes)
      << "their worker has nothing to do with it";
}

TEST_F(WorkerCase, is_not_waited_for_beyond_its_limit_whoever_has_its_output) {
  add("Plain.leaves_its_output_on_the_way_to_a_process", "leaves", {}, "GPUTEST_TIMEOUT=1");
  const auto result = run().at("leaves");
  EXPECT_EQ(result.word, "Failed");
  EXPECT_THAT(result.output, HasSubstr("so CTest waits for them: processes that could not be found"));
  const auto at = result.output.find("@orphan ");
  ASSERT_NE(at, std::string::npos);
  end_running(std::stoi(result.output.substr(at + 8))); // it still has the output
}

TEST_F(WorkerCase, with_a_limit_has_all_that_it_writes_passed_on_in_its_order) {
  add("Crash.by_abort_after_much_output", "writes", {}, "GPUTEST_TIMEOUT=1000");
  const auto result = run().at("writes");
  std::string lines;
  for (int line = 0; line < 20'000; ++line) {
    lines += "@line " + std::to_string(line) + "\n";
  }
  EXPECT_NE(result.output.find(lines + "gputest: failed: writes ended its process by the signal Aborted"),
            std::string::npos)
      << result.output.substr(result.output.size() - std::min<std::size_t>(result.output.size(), 1000));
}

TEST_F(WorkerCase, has_what_gputest_writes_on_lines_of_its_own) {
  add("Crash.in_a_line_at_an_idle_end");
  add_command("of_a_worker", {ENTRY_PROGRAM, "--end", CASES});
  add("Crash.in_a_line_at_an_idle_end", "earlier");
  add("Crash.in_a_line", "", {}, "GPUTEST_TIMEOUT=1000");
  add_command("of_earlier_cases", {ENTRY_PROGRAM, "--end", CASES});
  add_command("of_a_command", {TOOL, "run", "--memory", "1MiB", "--", "/bin/sh", "-c", "printf @unfinished; exit 77"},
              "ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_TIMEOUT=1000\"");
  const auto results = run();
  for (const std::string name : {"of_a_worker", "Crash.in_a_line", "of_earlier_cases", "of_a_command"}) {
    const auto& output = results.at(name).output;
    EXPECT_THAT(output,
                HasSubstr(name == "of_a_command" ? "@unfinished\n<CTestMeasurement " : "@unfinished\ngputest: "));
    EXPECT_THAT(output, Not(AnyOf(HasSubstr("@unfinishedgputest: "), HasSubstr("\n\ngputest: ")))) << name;
  }
}

TEST_F(WorkerCase, of_a_command_that_ctest_judges_by_its_output_has_nothing_added_to_it) {
  const std::string entry =
      "GPUTEST_ENTRY=by_output GPUTEST_TIMEOUT=1000 '" TOOL "' run --memory 1MiB -- printf @unfinished";
  add_command("of_a_command", {"/bin/sh", "-c", "[ $(" + entry + " 2>&1; echo .) = @unfinished. ]"});
  EXPECT_EQ(run().at("of_a_command").word, "Passed");
}

TEST_F(WorkerCase, whose_time_is_over_has_all_that_it_wrote_passed_on_though_nobody_reads_it_meanwhile) {
  ASSERT_EQ(::mkfifo(path("blocks").c_str(), 0600), 0);
  const std::string entry = "GPUTEST_ENTRY=ctest GPUTEST_TEST=writes GPUTEST_TIMEOUT=2 '" ENTRY_PROGRAM "' '" CASES
                            "' --gtest_filter=Plain.writes_much_and_blocks";
  add_command("writes", {"/bin/sh", "-c",
                         "(" + entry + " 2>&1) | (read worker < blocks; while kill -0 $worker 2>&-; do :; done; cat)"});
  const auto output = run().at("writes").output;
  EXPECT_THAT(output,
              HasSubstr("@line 11999\ngputest: timed out: writes: Plain.writes_much_and_blocks has run for 2 s"));
}

TEST_F(WorkerCase, may_leave_a_thread_that_reads_a_stream) { // which keeps the stream's lock
  add("Plain.leaves_a_thread_that_reads_a_stream", "reads", {}, "GPUTEST_TIMEOUT=10");
  const auto result = run().at("reads");
  EXPECT_EQ(result.word, "Passed") << result.output;
}

TEST_F(WorkerCase, names_processes_that_a_case_has_left_behind_once) {
  add("Plain.a");
  add("Plain.leaves_a_process_without_a_parent", "leaves");
  add("Plain.b");
  const auto results = run();
  const auto& output = results.at("leaves").output;
  const auto at = output.find("@orphan ");
  ASSERT_NE(at, std::string::npos);
  const auto orphan = output.substr(at + 8, output.find('\n', at) - at - 8);
  EXPECT_THAT(output, HasSubstr("gputest: leaves left processes running; gputest does not kill them: " + orphan +
                                " (worker_cases_su)"));
  EXPECT_EQ(results.at("Plain.b").processes, results.at("Plain.a").processes);
  EXPECT_THAT(results.at("Plain.b").output, Not(HasSubstr("left processes")));
  end_running(std::stoi(orphan));
}

TEST_F(WorkerCase, leaves_to_run_what_earlier_cases_have_left_when_a_case_and_its_processes_are_killed) {
  add("Plain.leaves_a_process_without_a_parent", "leaves");
  add("Crash.by_abort_beside_a_process_without_a_parent", "crashes");
  const auto results = run();
  EXPECT_EQ(results.at("leaves").processes.front(), results.at("crashes").processes.front());
  const auto orphan_of = [](const std::string& output) {
    return std::stoi(output.substr(output.find("@orphan ") + 8));
  };
  end_running(orphan_of(results.at("leaves").output));
  EXPECT_EQ(::kill(orphan_of(results.at("crashes").output), 0), -1) << "it would keep the case's output open";
}

TEST_F(WorkerCase, that_fails_and_runs_again_has_nothing_of_its_first_run_beside_the_second_one) {
  add("Plain.a");
  add("Plain.fails_beside_a_process_without_a_parent", "fails");
  const auto output = run().at("fails").output;
  const auto first = output.find("@orphan ");
  const auto second = output.rfind("@orphan ");
  ASSERT_NE(first, second) << output;
  EXPECT_EQ(::kill(std::stoi(output.substr(first + 8)), SIGKILL), -1);
  EXPECT_THAT(output, Not(HasSubstr("left processes running")));
  end_running(std::stoi(output.substr(second + 8))); // as after a case of a process of its own
}

TEST_F(WorkerCase, that_crashes_and_does_not_run_again_leaves_its_processes_running) {
  add("Crash.by_abort_beside_a_process_without_a_parent", "crashes");
  const auto result = run().at("crashes");
  EXPECT_EQ(result.processes.size(), 1U);
  const auto at = result.output.find("@orphan ");
  ASSERT_NE(at, std::string::npos);
  const auto orphan = std::stoi(result.output.substr(at + 8));
  EXPECT_THAT(result.output,
              HasSubstr("crashes left processes running; gputest does not kill them: " + std::to_string(orphan)));
  end_running(orphan);
}

TEST_F(WorkerCase, runs_a_case_alone_that_closes_files_that_it_has_not_opened) {
  add("Host.closes_all_files");
  const auto results = run();
  EXPECT_EQ(results.at("Host.closes_all_files").word, "Passed") << results.at("Host.closes_all_files").output;
  EXPECT_EQ(results.at("Host.closes_all_files").processes.size(), 2U);
}

TEST_F(WorkerCase, runs_alone_what_cannot_share_a_process_and_says_why) {
  add("Host.a", "large", {}, "GPUTEST_MEMORY=large");
  add("Plain.a", "without_gputest", {}, "", "", WITHOUT_GPUTEST);
  const auto results = run();
  EXPECT_THAT(results.at("large").output, HasSubstr("gputest: large runs in a process of its own: it is large"));
  EXPECT_EQ(results.at("large").processes.size(), 1U);
  EXPECT_EQ(results.at("without_gputest").word, "Failed");
  EXPECT_THAT(results.at("without_gputest").output, HasSubstr("the command ended with 0, and gputest did not run its"));
  EXPECT_THAT(results.at("without_gputest").output,
              HasSubstr("its executable ended with the exit code 0 before it came to gputest::run_all_tests(). It "
                        "wrote:\nRunning main() from "));
}

TEST_F(WorkerCase, runs_a_case_alone_that_a_debugger_holds) {
  // LeakSanitizer cannot look at a process that a debugger holds.
  add_command("traced", {TRACER, ENTRY_PROGRAM, CASES, "--gtest_filter=Plain.a"},
              "ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_TEST=traced;ASAN_OPTIONS=detect_leaks=0\"");
  const auto result = run().at("traced");
  EXPECT_EQ(result.word, "Passed") << result.output;
  EXPECT_THAT(result.output, HasSubstr("traced runs in a process of its own: a debugger holds it"));
}

TEST_F(WorkerCase, list_of_an_executable_names_the_cases_that_run_alone) {
  set("GPUTEST_LIST_FILE", path("list"));
  const auto ended = ChildProcess{{CASES, "--gtest_list_tests"}, environment()}.finish();
  EXPECT_EQ(ended.exit_code, 0);
  std::map<std::string, std::string> reasons;
  std::ifstream list{path("list")};
  for (std::string line; std::getline(list, line);) {
    if (const auto reason = line.rfind(" [["); reason != std::string::npos) {
      reasons[line.substr(0, line.find("]]"))] = line.substr(reason);
    }
  }
  const std::string call = "gputest_listed_test([[";
  EXPECT_EQ(reasons[call + "PlainDeathTest.dies"], " [[it is a death test]])");
  EXPECT_EQ(reasons[call + "Large.takes_the_device"], " [[it is large]])");
  EXPECT_EQ(reasons[call + "Heap.is_set"], " [[it sets the device heap]])");
  EXPECT_EQ(reasons[call + "Plain.a"], " [[]])");
  EXPECT_EQ(reasons[call + "Host.a"], " [[]])");
}

TEST_F(WorkerCase, lets_idle_workers_leave_before_a_large_case) {
  add("Plain.a");
  add("Large.takes_the_device", "", {}, "GPUTEST_MEMORY=large", "DEPENDS Plain.a");
  add("Plain.b", "", {}, "", "DEPENDS Large.takes_the_device");
  const auto results = run({"-j1"});
  EXPECT_EQ(results.at("Plain.a").word, "Passed");
  EXPECT_EQ(results.at("Large.takes_the_device").word, "Passed") << results.at("Large.takes_the_device").output;
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
  EXPECT_NE(results.at("Plain.b").processes, results.at("Plain.a").processes);
}

TEST_F(WorkerCase, has_no_worker_run_a_test_that_is_of_another_version) {
  set("GPUTEST_WORKER", "2:5:1");
  const auto ended = ChildProcess{{CASES, "--gtest_filter=Plain.a"}, environment()}.finish();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("gputest: GPUTEST_WORKER=2:5:1 is of another version of gputest. No test runs. "));
  EXPECT_THAT(ended.out, Not(HasSubstr("Plain.a")));
}

TEST_F(WorkerCase, serves_two_ctest_runs_of_one_build_tree_at_once_by_workers_of_their_own) {
  let_cases_meet("");
  add("Plain.a", "", {}, "", "DEPENDS \"Plain.meets_the_other;Plain.meets_the_first\"");
  auto first = start_ctest({"-R", "meets_the_first|Plain.a"});
  auto second = start_ctest({"-R", "meets_the_other|Plain.a"});
  const auto of_first = results_of(first.finish().out);
  const auto of_second = results_of(second.finish().out);
  EXPECT_EQ(of_first.at("Plain.a").word, "Passed");
  EXPECT_EQ(of_second.at("Plain.a").word, "Passed");
  EXPECT_EQ(of_first.at("Plain.a").processes, of_first.at("Plain.meets_the_first").processes);
  EXPECT_NE(of_first.at("Plain.a").processes, of_second.at("Plain.a").processes);
}

TEST_F(WorkerCase, reports_each_attempt_of_a_repeated_case_once) {
  add("Plain.a");
  add("Plain.b");
  auto ctest = start_ctest({"--repeat", "until-fail:3"});
  const auto results = results_of(ctest.finish().out);
  for (const std::string name : {"Plain.a", "Plain.b"}) {
    EXPECT_EQ(results.at(name).processes.size(), 3U) << results.at(name).output;
    EXPECT_EQ(results.at(name).word, "Passed");
  }
}

TEST_F(WorkerCase, ends_the_workers_normally_when_ctest_has_ended_and_leaves_nothing) {
  set("COUNT_ENDS_IN", path("ends"));
  add("Plain.a");
  add("Plain.b");
  auto ctest = start_ctest({"-j1"});
  const auto pid = ctest.pid();
  const pid_t worker = number_after(ctest, "@process ");
  EXPECT_EQ(ctest.finish().exit_code, 0);
  wait_for_end_of(worker);
  EXPECT_EQ(contents_of(path("ends")), "ended\n") << "the worker ran its exit handlers";
  while (!folders_of(pid).empty()) { // it is removed a moment later; CTest's limit ends a test that waits in vain
    std::this_thread::yield();
  }
}

class Killed : public WorkerCase {
protected:
  /// Starts ctest, and waits until a case blocks.
  void begin(const std::vector<std::string>& arguments = {}) {
    add("Plain.a");
    add("Plain.blocks", "", {}, environment_of_blocks_, "DEPENDS Plain.a " + properties_);
    add("Plain.b", "", {}, "", "DEPENDS Plain.blocks");
    ctest_.emplace(start_ctest(arguments));
    ctest_->wait_for_out("Start 2");
    runners_ = runners_of_next_case(*ctest_);
    orphan_ = number_after(*ctest_, "@blocks ");
  }
  void expect_that_all_are_gone() const {
    wait_for_end_of(runners_.worker);
    wait_for_end_of(runners_.supervisor);
    wait_for_end_of(orphan_);
  }
  void end_the_case_that_runs_alone() {
    const pid_t alone = number_after(*ctest_, "@process ");
    const pid_t orphan = number_after(*ctest_, "@blocks ");
    ::kill(orphan, SIGKILL); // as without gputest, ctest would wait for it
    ::kill(alone, SIGKILL);
  }
  /// The client of the case: ctest's child.
  [[nodiscard]] pid_t client() const {
    std::ifstream children{"/proc/" + std::to_string(ctest_->pid()) + "/task/" + std::to_string(ctest_->pid()) +
                           "/children"};
    pid_t pid = 0;
    children >> pid;
    return pid;
  }

  std::string properties_;
  std::string environment_of_blocks_;
  std::optional<ChildProcess> ctest_;
  Runners runners_;
  pid_t orphan_ = 0;
};

TEST_F(Killed, client_takes_its_case_with_it_and_what_the_case_has_started) {
  begin();
  ASSERT_EQ(::kill(client(), SIGKILL), 0);
  expect_that_all_are_gone();
  const auto results = results_of(ctest_->finish().out);
  EXPECT_THAT(results.at("Plain.blocks").word, Not("Passed"));
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
}

TEST_F(Killed, case_whose_time_is_over_for_ctest_is_gone) {
  properties_ = "TIMEOUT 2";
  begin();
  expect_that_all_are_gone();
  const auto results = results_of(ctest_->finish().out);
  EXPECT_EQ(results.at("Plain.blocks").word, "Timeout");
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
}

TEST_F(Killed, client_takes_with_it_what_it_runs_once_more) {
  begin();
  ASSERT_EQ(::kill(runners_.worker, SIGKILL), 0);
  ctest_->wait_for_out("runs once more");
  const pid_t alone = number_after(*ctest_, "@process ");
  const pid_t orphan = number_after(*ctest_, "@blocks ");
  ASSERT_EQ(::kill(client(), SIGKILL), 0);
  wait_for_end_of(alone);
  ::kill(orphan, SIGKILL); // as without gputest, ctest would wait for it
  EXPECT_EQ(results_of(ctest_->finish().out).at("Plain.b").word, "Passed");
}

TEST_F(Killed, worker_is_blamed_on_the_case_that_ran) {
  environment_of_blocks_ = "GPUTEST_TIMEOUT=3600"; // it is not over
  begin();
  ASSERT_EQ(::kill(runners_.worker, SIGKILL), 0);
  wait_for_end_of(orphan_);
  ctest_->wait_for_out("runs once more"); // it was not its process's first
  end_the_case_that_runs_alone();
  const auto results = results_of(ctest_->finish().out);
  EXPECT_THAT(results.at("Plain.blocks").word, Not("Passed"));
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
}

TEST_F(Killed, supervisor_takes_its_worker_with_it_and_the_case_runs_alone) {
  begin();
  ASSERT_EQ(::kill(runners_.supervisor, SIGKILL), 0);
  wait_for_end_of(runners_.worker);
  ::kill(orphan_, SIGKILL);
  ctest_->wait_for_out("the gputest-supervisor of its worker was killed");
  end_the_case_that_runs_alone();
  EXPECT_EQ(results_of(ctest_->finish().out).at("Plain.b").word, "Passed");
}

TEST_F(Killed, ctest_takes_everything_with_it) {
  begin();
  const auto pid = ctest_->pid();
  ctest_->kill(SIGKILL);
  expect_that_all_are_gone();
  while (!folders_of(pid).empty()) {
    std::this_thread::yield();
  }
}

TEST_F(WorkerCase, counts_the_limit_of_each_case_from_its_own_beginning) {
  add("Plain.a", "short", {}, "GPUTEST_TIMEOUT=60");
  add("Plain.blocks", "limited", {}, "GPUTEST_TIMEOUT=0.5", "DEPENDS short");
  add("Plain.b", "after", {}, "", "DEPENDS limited");
  const auto results = run();
  EXPECT_EQ(results.at("short").word, "Passed");
  EXPECT_NE(results.at("limited").word, "Passed");
  EXPECT_THAT(results.at("limited").output, HasSubstr("gputest: timed out: limited: Plain.blocks has run for 0.5 s"));
  EXPECT_EQ(results.at("limited").processes.size(), 1U) << "it is not run again";
  EXPECT_EQ(results.at("after").word, "Passed");
}

} // namespace
} // namespace gputest::tests
