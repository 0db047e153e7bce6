// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"
#include "support/ctest_run.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Entries that wait until a program that holds the device is told to end.
class WaitNotices : public ::testing::Test, public CTestRun {
protected:
  void run_beside_a_holder(const std::string& name) { run_beside_a_holder(name, command_of_ctest({"-j2"})); }

  /// Has init adopt the ctest, because a line goes to the outermost one, and one may run this test.
  void run_beside_a_holder(const std::string& name, std::vector<std::string> ctest) {
    ASSERT_EQ(::mkfifo(path("gate").c_str(), 0600), 0);
    ChildProcess holder{{TOOL, "run", "--memory", "4GiB", "--name", name, "--", "/bin/sh", "-c",
                         "echo holds; read x < " + path("gate")},
                        environment()};
    holder.wait_for_out("holds");
    ctest.insert(ctest.begin(), {"/bin/sh", "-c", R"("$@" & echo ctest is $!)", "sh"});
    ChildProcess orphan{ctest, environment()};
    const auto pid = number_after(orphan, "ctest is ");
    orphan.wait_for_err(" waits for ");
    let_all_look_again(pid);
    std::ofstream{path("gate")} << "open\n";
    const auto ended = orphan.finish();
    notices_ = ended.err;
    results_ = results_of(ended.out);
    static_cast<void>(holder.finish());
  }

  /// Returns when each process that a ctest has started has slept three times. One that waits looks after each second.
  static void let_all_look_again(pid_t ctest) {
    const auto folder = "/proc/" + std::to_string(ctest);
    std::istringstream watchers{os::contents_of(folder + "/task/" + std::to_string(ctest) + "/children").value_or("")};
    for (std::string pid; watchers >> pid;) {
      if (os::contents_of("/proc/" + pid + "/comm") == "ctest\n") {
        let_all_look_again(std::stoi(pid));
        continue;
      }
      const auto sleeps = [&] {
        const std::string name = "\nvoluntary_ctxt_switches:";
        const auto status = os::contents_of("/proc/" + pid + "/status").value_or("");
        const auto at = status.find(name);
        return at == std::string::npos ? std::nullopt : std::optional{std::stoul(status.substr(at + name.size()))};
      };
      const auto before = sleeps();
      for (auto now = before; now && *now < *before + 3; now = sleeps()) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
    }
  }

  void add_launched(const std::string& name) {
    add_command(name, {TOOL, "run", "--memory", "1GiB", "--", "/bin/true"},
                "ENVIRONMENT \"GPUTEST_ENTRY=ctest;GPUTEST_TEST=" + name + "\"");
  }

  std::string notices_;
  std::map<std::string, Result> results_;
};

TEST_F(WaitNotices, are_one_line_of_ctest_for_all_entries_that_wait_and_name_whom_they_wait_for) {
  add("Plain.medium", "watched", {}, "GPUTEST_ISOLATION=process");
  add("Plain.a", "in_a_worker");
  run_beside_a_holder("a\033[2Jtraining");
  EXPECT_THAT(notices_, HasSubstr("a?[2Jtraining (pid "));
  EXPECT_THAT(notices_.substr(notices_.find('\n') + 1), Not(HasSubstr("waits"))) << notices_;
  for (const auto* name : {"watched", "in_a_worker"}) {
    EXPECT_EQ(results_.at(name).word, "Passed") << results_.at(name).output;
    EXPECT_THAT(results_.at(name).output, HasSubstr(" waits for "));
    EXPECT_THAT(results_.at(name).output, Not(HasSubstr("training")));
  }
}

TEST_F(WaitNotices, are_written_by_a_launcher_that_waits) {
  add_launched("launched");
  run_beside_a_holder("training");
  EXPECT_THAT(notices_, HasSubstr("gputest: launched waits for"));
  EXPECT_EQ(results_.at("launched").word, "Passed") << results_.at("launched").output;
}

TEST_F(WaitNotices, are_no_output_of_a_test_that_runs_ctest) {
  add_launched("launched");
  CTestRun outer;
  outer.add_command("runs_ctest", command_of_ctest());
  run_beside_a_holder("training", outer.command_of_ctest());
  EXPECT_THAT(notices_, HasSubstr("gputest: launched waits for 1 GiB: training"));
  EXPECT_EQ(results_.at("runs_ctest").word, "Passed");
  EXPECT_THAT(results_.at("runs_ctest").output, Not(HasSubstr("training")));
}

} // namespace
} // namespace gputest::tests
