// SPDX-License-Identifier: BSD-3-Clause
// Workers that share a server of MPS, with a control daemon and a driver that are none.
#include "support/ctest_run.hpp"

#include "support/child_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace gputest::tests {

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Mps : public WorkerCase {
protected:
  void SetUp() override {
    if (std::filesystem::exists("/tmp/nvidia-mps/control")) {
      GTEST_SKIP() << "this machine has a control daemon, which all workers join";
    }
    set("GPUTEST_MPS", "on");
    set("GPUTEST_DEVICES", "all");
    set("LD_LIBRARY_PATH", FAKE_DRIVER);
    set("FAKE_CUDA_WAS_LOADED", "1"); // as the driver sets it when it is loaded
    set("FAKE_NVML", "gpus=1");
    set("FAKE_MPS_LOG", path("daemons"));
    set("PATH", FAKE_MPS ":/usr/bin:/bin");
  }

  /// The pids of the control daemons that were started, and of their parents.
  [[nodiscard]] std::vector<std::pair<pid_t, pid_t>> daemons() const {
    std::vector<std::pair<pid_t, pid_t>> found;
    std::ifstream file{path("daemons")};
    for (std::pair<pid_t, pid_t> one; file >> one.first >> one.second;) {
      found.push_back(one);
    }
    return found;
  }

  /// One that is not the run's own. Returns when clients can connect to it.
  [[nodiscard]] ChildProcess start_daemon_of_user() {
    set("CUDA_MPS_PIPE_DIRECTORY", folder());
    ChildProcess daemon{{FAKE_MPS "/nvidia-cuda-mps-control", "-f"}, environment()};
    while (daemons().empty() || !std::filesystem::exists(path("control"))) {
    }
    return daemon;
  }

  static bool is_running(pid_t pid) { return std::ifstream{"/proc/" + std::to_string(pid) + "/cmdline"}.peek() != EOF; }

  /// Whether a process is blocked on the lock of a file.
  static bool has_waiter(ino_t file) {
    std::ifstream locks{"/proc/locks"};
    for (std::string line; std::getline(locks, line);) {
      if (line.find("-> ") != std::string::npos && line.find(":" + std::to_string(file) + " ") != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  static std::string server_in(const std::string& output) {
    const auto start = output.find("@server ") + 8;
    return output.substr(start, output.find('\n', start) - start);
  }
  static std::string last(const std::string& path) { return path.substr(path.rfind('/') + 1); }
};

TEST_F(Mps, gives_all_workers_of_a_run_one_server_which_ends_with_the_run) {
  add("OnServer.passes");
  add("OnServer.passes", "of_another_worker", {}, "OF_ALL=no");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS \"OnServer.passes;of_another_worker\"");
  auto ctest = start_ctest();
  const auto pid = ctest.pid();
  const auto results = results_of(ctest.finish().out);
  const auto server = server_in(results.at("OnServer.passes").output);
  EXPECT_THAT(server, HasSubstr(workers_folder() + "/" + std::to_string(pid) + "-"));
  EXPECT_EQ(last(server), "mps");
  EXPECT_EQ(server_in(results.at("of_another_worker").output), server);
  EXPECT_NE(results.at("of_another_worker").processes, results.at("OnServer.passes").processes);
  EXPECT_THAT(results.at("workers_end").output, HasSubstr("gputest: workers of this run shared GPUs by MPS\n"));
  ASSERT_EQ(daemons().size(), 1U);
  wait_for_end_of(daemons()[0].first);
  wait_for_end_of(daemons()[0].second);
}

TEST_F(Mps, has_no_case_fail_for_an_error_of_another_one) {
  let_cases_meet();
  add("OnServer.passes", "before_the_other", {}, "OF_ALL=no");
  add("OnServer.faults_while_the_other_runs", "", {}, "", "DEPENDS before_the_other");
  add("OnServer.runs_while_the_other_faults", "", {}, "OF_ALL=no", "DEPENDS before_the_other");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES},
              "DEPENDS \"OnServer.faults_while_the_other_runs;OnServer.runs_while_the_other_faults\"");
  const auto results = run({"-j2"});
  EXPECT_EQ(results.at("workers_end").word, "Passed");
  EXPECT_THAT(results.at("workers_end").output,
              HasSubstr("failed in OnServer.runs_while_the_other_faults, which did not"));
  const auto& faulting = results.at("OnServer.faults_while_the_other_runs");
  EXPECT_EQ(faulting.word, "Failed");
  EXPECT_THAT(faulting.output, Not(HasSubstr("shared error")));
  const auto& other = results.at("OnServer.runs_while_the_other_faults");
  EXPECT_EQ(other.word, "Passed");
  ASSERT_EQ(other.processes.size(), 2U) << other.output;
  EXPECT_EQ(other.processes[0], results.at("before_the_other").processes[0]) << "so it could depend on that";
  EXPECT_THAT(other.output, AllOf(HasSubstr("shared error: OnServer.runs_while_the_other_faults passed alone"),
                                  Not(HasSubstr("dependence")), Not(HasSubstr("unstable"))));
}

TEST_F(Mps, says_nothing_of_shared_errors_where_a_case_depends_on_another) {
  add("Plain.poisons");
  add("Plain.fails_if_poisoned");
  add("OnServer.passes");
  const auto results = run();
  EXPECT_THAT(results.at("Plain.fails_if_poisoned").output, AllOf(HasSubstr("dependence: "), Not(HasSubstr("shared"))));
  EXPECT_EQ(last(server_in(results.at("OnServer.passes").output)), "mps") << "the server is not to blame";
}

TEST_F(Mps, gives_workers_no_server_after_an_error) {
  add("OnServer.faults");
  add("OnServer.passes");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS OnServer.passes");
  const auto results = run();
  EXPECT_EQ(results.at("OnServer.faults").word, "Failed");
  EXPECT_EQ(last(server_in(results.at("OnServer.faults").output)), "mps");
  EXPECT_EQ(results.at("OnServer.passes").word, "Passed");
  EXPECT_EQ(server_in(results.at("OnServer.passes").output), "none");
  EXPECT_THAT(results.at("OnServer.passes").output,
              HasSubstr("gputest: workers use no MPS any more: a process that used it had an error or died"));
  EXPECT_THAT(results.at("workers_end").output, HasSubstr("gputest: workers of this run shared GPUs by MPS\n"));
  EXPECT_EQ(daemons().size(), 1U);
}

TEST_F(Mps, gives_workers_no_server_after_a_process_of_it_was_killed) {
  add("Plain.blocks", "killed_with_its_client");
  add("OnServer.passes", "after", {}, "", "DEPENDS killed_with_its_client");
  auto ctest = start_ctest();
  ctest.wait_for_out("@blocks ");
  pid_t client = 0;
  std::ifstream{"/proc/" + std::to_string(ctest.pid()) + "/task/" + std::to_string(ctest.pid()) + "/children"} >>
      client;
  ASSERT_GT(client, 0);
  ASSERT_EQ(::kill(client, SIGKILL), 0);
  EXPECT_EQ(server_in(results_of(ctest.finish().out).at("after").output), "none");
}

TEST_F(Mps, gives_workers_no_server_after_a_case_has_died_there_and_alone) {
  add("Crash.by_abort");
  add("OnServer.passes");
  EXPECT_EQ(server_in(run().at("OnServer.passes").output), "none");
}

TEST_F(Mps, gives_its_control_daemon_no_restriction_of_a_case) {
  set("FAKE_MPS_KEEPS", "its variable");
  add_command("restricted", {"/bin/sh", path("restricted")},
              "ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_TEST=restricted;CUDA_VISIBLE_DEVICES=0\"");
  folder_write("restricted", "cpu=$(sed -n 's/Cpus_allowed_list:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/self/status)\n"
                             "taskset -c $cpu '" ENTRY_PROGRAM "' '" CASES "' --gtest_filter=OnServer.passes\n"
                             "read daemon owner < '" +
                                 path("daemons") +
                                 "'\n"
                                 "{ taskset -c 0-1023 cat /proc/self/status; cat /proc/$daemon/status; } | grep "
                                 "Cpus_allowed_list | sort -u | wc -l | sed 's/^/@masks /'\n"
                                 "tr '\\0' '\\n' < /proc/$daemon/environ | sed 's/^/@has /'\n");
  const auto output = run().at("restricted").output;
  EXPECT_EQ(last(server_in(output)), "mps");
  EXPECT_THAT(output, HasSubstr("@masks 1\n")) << "it may run on all processors, as a process of its user may";
  EXPECT_THAT(output, HasSubstr("@has FAKE_MPS_KEEPS=its variable\n"));
  EXPECT_THAT(output, HasSubstr("@has CUDA_MPS_LOG_DIRECTORY=" + server_in(output) + "\n"));
  for (const char* const name : {"GPUTEST_", "LD_", "CUDA_VISIBLE"}) {
    EXPECT_THAT(output, Not(HasSubstr(std::string{"@has "} + name)));
  }
}

TEST_F(Mps, ends_a_control_daemon_that_was_given_up_when_nobody_uses_it) {
  add("OnServer.faults");
  add_command("waits", {"/bin/sh", path("waits")}, "TIMEOUT 30");
  folder_write("waits", "read daemon owner < '" + path("daemons") +
                            "'; while grep -q . /proc/$daemon/cmdline 2>/dev/null; do :; done");
  EXPECT_EQ(run().at("waits").word, "Passed");
}

TEST_F(Mps, gives_up_a_server_through_which_cases_fail_that_pass_alone) {
  add("OnServer.fails_in_workers");
  add("OnServer.passes");
  const auto results = run();
  EXPECT_EQ(results.at("OnServer.fails_in_workers").word, "Failed") << "no error of another case has reached it";
  EXPECT_EQ(server_in(results.at("OnServer.passes").output), "none");
}

TEST_F(Mps, starts_a_control_daemon_again_whose_owner_was_killed) {
  add("OnServer.passes");
  add_command("kills", {"/bin/sh", path("kills")});
  folder_write("kills", "read daemon owner < '" + path("daemons") +
                            "'; kill -9 $owner; while grep -q . /proc/$daemon/cmdline 2>/dev/null; do :; done");
  add("OnServer.passes", "next", {}, "OF_ALL=no");
  const auto results = run();
  EXPECT_EQ(server_in(results.at("next").output), server_in(results.at("OnServer.passes").output));
  EXPECT_EQ(daemons().size(), 2U);
}

TEST_F(Mps, leaves_no_control_daemon_when_ctest_is_killed) {
  add("Plain.blocks");
  auto ctest = start_ctest();
  ctest.wait_for_out("@blocks ");
  ASSERT_EQ(daemons().size(), 1U);
  ::kill(ctest.pid(), SIGKILL);
  static_cast<void>(ctest.finish());
  wait_for_end_of(daemons()[0].first);
  wait_for_end_of(daemons()[0].second);
}

TEST_F(Mps, ends_its_control_daemon_after_the_workers) {
  set("END_AT", path("end"));
  ASSERT_EQ(::mkfifo(path("end").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(path("seen").c_str(), 0600), 0);
  add("OnServer.passes");
  add_command("until_its_folder_was_seen", {"sh", "-c", "read line <'" + path("seen") + "'"}); // it goes with ctest
  auto ctest = start_ctest();
  ctest.wait_for_out("@server ");
  struct stat clients {};
  ASSERT_EQ(::stat((ctest.read_line() + "/clients").c_str(), &clients), 0);
  std::ofstream{path("seen")} << "seen\n";
  static_cast<void>(ctest.finish());
  ASSERT_EQ(daemons().size(), 1U);
  while (is_running(daemons()[0].first) && !has_waiter(clients.st_ino)) {
  }
  EXPECT_TRUE(is_running(daemons()[0].first));
  const std::ifstream end{path("end")};
  wait_for_end_of(daemons()[0].first);
  wait_for_end_of(daemons()[0].second);
}

TEST_F(Mps, is_the_users_own_if_there_is_one) {
  set("GPUTEST_MPS", "off"); // which is about servers of the run's own
  auto daemon = start_daemon_of_user();
  add("OnServer.passes");
  add("OnServer.is_aborted_in_workers");
  const auto results = run();
  daemon.kill(SIGKILL);
  EXPECT_EQ(server_in(results.at("OnServer.passes").output), folder());
  EXPECT_EQ(daemons().size(), 1U);
  EXPECT_THAT(results.at("OnServer.is_aborted_in_workers").output,
              HasSubstr("failed in a process that shares errors of"));
}

TEST_F(Mps, is_not_a_daemon_of_another_user) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be two users";
  }
  auto daemon = start_daemon_of_user();
  constexpr uid_t other = 65534;
  ASSERT_EQ(::chown(path("control").c_str(), other, other), 0);
  add("OnServer.fails");
  const auto result = run().at("OnServer.fails");
  daemon.kill(SIGKILL);
  EXPECT_EQ(result.processes.size(), 1U) << result.output;
}

TEST_F(Mps, begins_when_two_cases_run_at_once) {
  set("GPUTEST_MPS", "auto");
  add("OnServer.passes", "first");
  let_cases_meet("DEPENDS first");
  add("OnServer.passes", "last", {}, "", "DEPENDS \"Plain.meets_the_other;Plain.meets_the_first\"");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS last");
  const auto results = run({"-j2"});
  EXPECT_EQ(server_in(results.at("first").output), "none");
  EXPECT_EQ(last(server_in(results.at("last").output)), "mps");
  EXPECT_NE(results.at("last").processes, results.at("first").processes) << "a worker older than the server";
  EXPECT_THAT(results.at("workers_end").output,
              AllOf(HasSubstr(" ended because workers share a server now (MPS)"), Not(HasSubstr("after an error"))));
}

TEST_F(Mps, hides_no_dependence) {
  add("Plain.poisons");
  add("Plain.crashes_if_poisoned");
  const auto result = run().at("Plain.crashes_if_poisoned");
  EXPECT_EQ(result.word, "Failed");
  EXPECT_THAT(result.output, HasSubstr("gputest: dependence: "));
}

TEST_F(Mps, fails_the_entry_that_ends_workers_if_no_case_can_have_caused_a_shared_error) {
  add("OnServer.is_aborted_in_workers");
  add("OnServer.blocks_in_workers", "", {}, "GPUTEST_MPS=on;OF_ALL=no;GPUTEST_TIMEOUT=1");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto results = run();
  EXPECT_EQ(results.at("OnServer.is_aborted_in_workers").word, "Passed");
  EXPECT_EQ(results.at("workers_end").word, "Failed");
  EXPECT_THAT(results.at("workers_end").output,
              AllOf(HasSubstr("gputest: shared error: a process of " CASES
                              " failed in OnServer.is_aborted_in_workers, which did not fail alone\n"),
                    HasSubstr("gputest: failed: no case of this run failed on a server of MPS and alone")));
}

TEST_F(Mps, is_no_reason_to_skip) {
  add("Plain.skips");
  add("OnDriver.skips_in_workers_that_have_a_server");
  const auto results = run();
  EXPECT_EQ(results.at("OnDriver.skips_in_workers_that_have_a_server").word, "Failed");
  EXPECT_THAT(results.at("OnDriver.skips_in_workers_that_have_a_server").output,
              HasSubstr("was skipped in a process that shares errors of CUDA with other workers (MPS). It runs once"));
  EXPECT_EQ(results.at("Plain.skips").processes.size(), 1U) << "it has not tried to use a device";
}

TEST_F(Mps, has_no_case_fail_whose_time_is_over_only_there) {
  add("OnServer.blocks_in_workers", "", {}, "GPUTEST_TIMEOUT=1", "FAIL_REGULAR_EXPRESSION \"gputest: timed out:\"");
  const auto result = run().at("OnServer.blocks_in_workers");
  EXPECT_EQ(result.word, "Passed") << result.output;
}

TEST_F(Mps, has_no_end_of_a_worker_fail_for_an_error_of_another) {
  add("OnServer.looks_for_errors_at_its_end", "", {}, "OF_ALL=no");
  add("OnServer.faults");
  add("OnServer.passes", "then", {}, "OF_ALL=no");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES});
  const auto end = run().at("workers_end");
  EXPECT_EQ(end.word, "Passed");
  EXPECT_THAT(end.output, HasSubstr("gputest: shared error: a process of "));
}

TEST_F(Mps, is_not_used_if_it_is_off_or_if_one_case_runs_at_a_time) {
  add("OnServer.passes");
  for (const char* const setting : {"off", "auto"}) {
    set("GPUTEST_MPS", setting);
    EXPECT_EQ(server_in(run().at("OnServer.passes").output), "none") << setting;
  }
  EXPECT_EQ(daemons().size(), 0U);
}

TEST_F(Mps, says_why_there_is_none_if_it_was_asked_for) {
  set("PATH", "/nowhere");
  add("Plain.a");
  add("Plain.b");
  add("Plain.c", "slices", {}, "CUDA_VISIBLE_DEVICES=MIG-1,MIG-2");
  const auto results = run();
  const auto& result = results.at("Plain.a");
  EXPECT_EQ(results.at("Plain.b").processes, result.processes);
  EXPECT_THAT(results.at("Plain.b").output, Not(HasSubstr("GPUTEST_MPS=on"))) << "it was said";
  EXPECT_THAT(results.at("slices").output, HasSubstr("gputest: GPUTEST_MPS=on, but workers use no MPS here: "
                                                     "CUDA_VISIBLE_DEVICES has slices of a device (MIG)\n"));
  EXPECT_EQ(result.word, "Passed");
  if (!std::filesystem::exists("/usr/bin/nvidia-cuda-mps-control") &&
      !std::filesystem::exists("/usr/local/nvidia/bin/nvidia-cuda-mps-control")) {
    EXPECT_THAT(result.output, HasSubstr("gputest: GPUTEST_MPS=on, but workers use no MPS here: "
                                         "nvidia-cuda-mps-control is not in PATH"));
  }
}

TEST_F(Mps, is_given_up_if_its_control_daemon_does_not_start) {
  folder_write("nvidia-cuda-mps-control", "#!/bin/sh\necho it starts\necho no device\nexit 1\n");
  set("PATH", folder() + ":/usr/bin:/bin");
  add("OnServer.passes");
  add("OnServer.passes", "next", {}, "OF_ALL=no");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES}, "DEPENDS next");
  const auto results = run();
  EXPECT_EQ(server_in(results.at("OnServer.passes").output), "none");
  EXPECT_THAT(results.at("OnServer.passes").output,
              HasSubstr("gputest: workers use no MPS: nvidia-cuda-mps-control did not start: no device\n"));
  EXPECT_THAT(results.at("next").output,
              HasSubstr("gputest: workers use no MPS any more: nvidia-cuda-mps-control did not start: no device\n"));
  EXPECT_THAT(results.at("workers_end").output, Not(HasSubstr("shared GPUs")));
  folder_write("nvidia-cuda-mps-control", "#!/bin/sh\nexit 1\n");
  EXPECT_THAT(run().at("OnServer.passes").output,
              HasSubstr("gputest: workers use no MPS: nvidia-cuda-mps-control did not start\n"));
}

} // namespace

} // namespace gputest::tests
