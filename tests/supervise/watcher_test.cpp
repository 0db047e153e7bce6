// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"
#include "support/ctest_run.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Optional;

class Watcher : public ::testing::Test, public CTestRun {};

TEST_F(Watcher, judges_an_entry_of_ctest_also_if_a_debugger_holds_it) {
  add_command("traced", {TRACER, ENTRY_PROGRAM, "--watch", "/bin/true"}, "ENVIRONMENT GPUTEST_ENTRY=ctest");
  const auto result = run().at("traced");
  EXPECT_EQ(result.word, "Failed");
  EXPECT_THAT(result.output, HasSubstr("gputest did not run its tests"));
}

// CTest gives valgrind one --log-file, which the later of two processes would truncate.
TEST_F(Watcher, becomes_its_command_under_valgrind) {
  const std::string properties = "ENVIRONMENT \"GPUTEST_ENTRY=will_fail:3;LD_PRELOAD=/nonexistent/vgpreload_core.so\"";
  folder_write("test", "#!/bin/sh\necho in $GPUTEST_ENTRY by $(cat /proc/$PPID/comm)\n");
  add_command("checked", {ENTRY_PROGRAM, "--watch", path("test")}, properties);
  EXPECT_THAT(run().at("checked").output, HasSubstr("in will_fail:3 valgrind by ctest\n"));
}

TEST_F(Watcher, fails_the_tests_that_valgrind_does_not_follow) {
  add_command("lost", {CASES, "--gtest_filter=Host.a"}, "ENVIRONMENT \"GPUTEST_ENTRY=ctest valgrind\"");
  add_command("expected_to_fail", {CASES, "--gtest_filter=Host.a"},
              "WILL_FAIL ON ENVIRONMENT \"GPUTEST_ENTRY=will_fail valgrind\"");
  for (const auto& [name, result] : run()) {
    EXPECT_NE(result.word, "Passed") << name;
    EXPECT_THAT(result.output, HasSubstr("gputest: failed: valgrind checks gputest-entry only")) << name;
  }
}

TEST_F(Watcher, leaves_no_defects_to_valgrind_that_the_suppressions_do_not_name) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's program cannot run under valgrind";
#endif
  constexpr auto* valgrind = "/usr/bin/valgrind";
  if (::access(valgrind, X_OK) != 0) {
    GTEST_SKIP() << valgrind << " is not there";
  }
  folder_write("check", "#!/bin/sh\nlog=$1 && shift && exec " + std::string{valgrind} +
                            " -q --trace-children=yes --leak-check=yes --show-reachable=yes --num-callers=50"
                            " '--suppressions=" VALGRIND_SUPPRESSIONS "' --log-file=$log '" ENTRY_PROGRAM "' \"$@\"\n");
  const std::string properties = "ENVIRONMENT GPUTEST_ENTRY=ctest";
  add_command("case", {path("check"), path("case.log"), "--watch", CASES, "--gtest_filter=Host.a"}, properties);
  add_command("end", {path("check"), path("end.log"), "--end", CASES}, properties);
  EXPECT_EQ(run().at("case").word, "Passed");
  for (const auto* const log : {"case.log", "end.log"}) {
    EXPECT_THAT(os::contents_of(path(log)), Optional(Not(HasSubstr("==")))) << "beside what it says of a system call";
  }
}

TEST_F(Watcher, believes_a_command_that_becomes_another_user_before_its_tests) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  add_command("nobody", {"/bin/sh", "-c",
                         "GPUTEST_ENTRY=ctest GPUTEST_TEST=nobody exec '" ENTRY_PROGRAM
                         "' --watch /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups '" CASES
                         "' --gtest_filter=Host.a"});
  const auto result = run().at("nobody");
  EXPECT_EQ(result.word, "Passed") << result.output;
}

TEST_F(Watcher, believes_an_executable_that_runs_as_another_group) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer's search for leaks may not look at such a process";
#endif
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  const auto copy = path("cases");
  std::filesystem::copy_file(CASES, copy);
  ASSERT_EQ(::chown(copy.c_str(), 0, 12345), 0);
  ASSERT_EQ(::chmod(copy.c_str(), 02755), 0);
  ASSERT_EQ(::chmod(folder().c_str(), 0755), 0);
  add_command("other_group", {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/env",
                              "GPUTEST_ENTRY=ctest", "GPUTEST_TEST=other_group", ENTRY_PROGRAM, "--watch", copy,
                              "--gtest_filter=Host.a"});
  const auto result = run().at("other_group");
  EXPECT_EQ(result.word, "Passed") << result.output;
}

TEST_F(Watcher, believes_a_launchers_command_in_a_pid_namespace_of_its_own) {
  add_command("apart",
              {TOOL, "run", "--memory", "small", "--name", "apart", "--", "/usr/bin/unshare", "--user",
               "--map-current-user", "--fork", "--pid", "--mount-proc", CASES, "--gtest_filter=Plain.skips"},
              "SKIP_RETURN_CODE 77 ENVIRONMENT GPUTEST_ENTRY=ctest");
  const auto result = run().at("apart");
  if (result.output.find("unshare: ") != std::string::npos) {
    GTEST_SKIP() << "this user may not make a pid namespace";
  }
  EXPECT_EQ(result.word, "Skipped") << result.output;
}

TEST_F(Watcher, says_that_tests_cannot_report_without_proc) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's library needs /proc";
#endif
  add_command("alone",
              {"/usr/bin/unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c",
               "/bin/mount -t tmpfs none /proc || exit 3; GPUTEST_ENTRY=ctest GPUTEST_TEST=alone exec '" ENTRY_PROGRAM
               "' --watch '" CASES "' --gtest_filter=Host.a"});
  const auto result = run().at("alone");
  if (result.output.find("unshare failed") != std::string::npos || result.output.find("mount: ") != std::string::npos) {
    GTEST_SKIP() << "this user may not mount a file system";
  }
  EXPECT_EQ(result.word, "Failed");
  EXPECT_THAT(result.output, HasSubstr("Mount /proc"));
}

TEST_F(Watcher, looks_for_a_program_as_ctest_does_only_for_an_entry_that_it_watches) {
  folder_write("uname", "#!/bin/sh\necho as ctest $GPUTEST_PATH\n");
  const std::string script = "'" TOOL "' run -- uname; exit $?"; // sh does not become the tool
  const std::string unwatched = "ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_MEMORY=none";
  const auto watched = unwatched + ";GPUTEST_DEFAULT_LOG=Testing/gputest;GPUTEST_PATH=*\"";
  add_command("entry", {TOOL, "run", "--", "uname"}, watched);
  add_command("entry_below_a_checker", {"/bin/sh", "-c", script}, watched);
  add_command("script_of_an_entry", {"/bin/sh", "-c", script}, unwatched + "\"");
  const auto results = run();
  EXPECT_THAT(results.at("entry").output, HasSubstr("as ctest\n"));
  EXPECT_THAT(results.at("entry_below_a_checker").output, HasSubstr("as ctest\n"));
  EXPECT_THAT(results.at("script_of_an_entry").output, Not(HasSubstr("as ctest")));
}

/// The property by which an entry has its settings, as gpu_add_test() writes it.
std::string settings_of(const std::string& entry, const std::string& more = "") {
  return "ENVIRONMENT_MODIFICATION \"GPUTEST_DEPTH=string_append:+;GPUTEST_ENTRY=set:ctest;GPUTEST_MEMORY=set:none;" +
         more + "GPUTEST_TEST=set:" + entry + "\"";
}

class EntryThatRunsCtest : public ::testing::Test, public CTestRun {};

TEST_F(EntryThatRunsCtest, says_nothing_of_the_tests_of_that_ctest) {
  const std::string skips = "--gtest_filter=Plain.skips";
  // Without that variable, by which they know that CTest may judge their output, they say what they lease.
  const std::vector<std::string> plain{"env", "-u", "CTEST_INTERACTIVE_DEBUG_MODE", CASES, "--gtest_filter=Plain.a"};
  add_command("plain", plain);
  add_command("plain_with_memory", plain, "ENVIRONMENT GPUTEST_MEMORY=64MiB");
  add_command("plain_skips", {CASES, skips}, "SKIP_RETURN_CODE 77");
  add_command("launched", {"env", "-u", plain[2], TOOL, "run", "--", CASES, "--gtest_filter=Plain.a"});
  add_command("entry_skips", {CASES, skips}, "SKIP_RETURN_CODE 219 " + settings_of("entry_skips"));
  set("GPUTEST_DEPTH", "+");
  set("GPUTEST_TEST", "outer");
  set("GPUTEST_MEMORY", "none");
  for (const std::string outer : {"by_output", "will_fail", ""}) { // the last is a test of a process that has read it
    if (outer.empty()) {
      unset("GPUTEST_ENTRY");
    } else {
      set("GPUTEST_ENTRY", outer);
    }
    const auto results = run();
    for (const std::string name : {"plain", "plain_with_memory", "launched"}) {
      EXPECT_EQ(results.at(name).word, "Passed") << outer << results.at(name).output;
      EXPECT_THAT(results.at(name).output, HasSubstr("gputest: admitted worker_cases_suite: "));
    }
    EXPECT_EQ(results.at("plain_skips").word, "Skipped") << outer << results.at("plain_skips").output;
    EXPECT_EQ(results.at("entry_skips").word, "Skipped") << outer << results.at("entry_skips").output;
  }
}

TEST_F(EntryThatRunsCtest, leaves_an_entry_of_its_own_name_that_one_s_settings) {
  CTestRun inner;
  inner.add_command("unit", {CASES, "--gtest_filter=Plain.skips"}, "SKIP_RETURN_CODE 219 " + settings_of("unit"));
  add_command("unit", inner.command_of_ctest(), settings_of("unit"));
  EXPECT_THAT(run().at("unit").output, HasSubstr("1 - unit (Skipped)"));
}

TEST_F(EntryThatRunsCtest, leaves_its_tests_what_the_user_and_plain_tests_have_set) {
  CTestRun inner;
  CTestRun middle;
  const std::string print = "echo $GPUTEST_TEST, $GPUTEST_HEAP, $GPUTEST_KEEPS, $GPUTEST_LARGE, $GPUTEST_WAIT_LIMIT, "
                            "$GPUTEST_ENTRY, $GPUTEST_DEPTH.";
  inner.add_command("prints", {TOOL, "run", "--memory", "none", "--", "/bin/sh", "-c", print});
  middle.add_command("entry", inner.command_of_ctest(), settings_of("entry", "GPUTEST_HEAP=set:2MiB;"));
  middle.add_command("plain", inner.command_of_ctest(), "ENVIRONMENT GPUTEST_LARGE=wait");
  add_command("outer", middle.command_of_ctest(),
              settings_of("outer", "GPUTEST_HEAP=set:1MiB;GPUTEST_KEEPS=set:1MiB;"));
  set("GPUTEST_KEEPS", "2MiB");
  set("GPUTEST_TEST", "the user's");
  set("GPUTEST_WAIT_LIMIT", "2s");
  const auto result = run().at("outer");
  EXPECT_THAT(result.output, HasSubstr("\n1: 1: the user's, , 2MiB, , 2s, , .\n"));
  EXPECT_THAT(result.output, HasSubstr("\n2: 1: the user's, , 2MiB, wait, 2s, , .\n"));
}

} // namespace
} // namespace gputest::tests
