// SPDX-License-Identifier: BSD-3-Clause
// Workers between two cases, while others need their devices.

#include "support/ctest_run.hpp"

#include "core/os/file.hpp"
#include "workers/meeting_place.hpp"
#include "workers/worker_message.hpp"

#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

/// A ctest run with a case, a worker that is idle after it as long as a gate is shut, and another case behind that.
class IdleWorker : public WorkerCase {
protected:
  void begin(const std::string& next = "Plain.b") {
    ASSERT_EQ(::mkfifo(path("gate").c_str(), 0600), 0);
    set("COUNT_ENDS_IN", path("ends"));
    add("Plain.a");
    add_command("gate", {"/bin/sh", "-c", "echo @gate; cat " + path("gate")}, "DEPENDS Plain.a");
    if (!next.empty()) {
      add(next, "", {}, "", "DEPENDS gate");
    }
    add_command("workers_end", {"/bin/sh", "-c", "echo @end $$; exec '" ENTRY_PROGRAM "' --end '" CASES "'"},
                "DEPENDS \"gate;" + next + "\"");
    ctest_.emplace(start_ctest());
    const auto [worker, supervisor] = runners_of_next_case(*ctest_);
    worker_ = worker;
    supervisor_ = supervisor;
    ctest_->wait_for_out(": @gate");
  }
  [[nodiscard]] std::map<std::string, Result> finish() {
    open_gate();
    return results_of(ctest_->finish().out);
  }
  void open_gate() {
    if (!gate_is_open_) {
      std::ofstream{path("gate")} << "open\n";
    }
    gate_is_open_ = true;
  }

  /// Stops the supervisor, so that nothing but the worker itself sees that it has to leave.
  void stop_supervisor() const { ::kill(supervisor_, SIGSTOP); }
  void continue_supervisor() const { ::kill(supervisor_, SIGCONT); }

  [[nodiscard]] ChildProcess start_large() const {
    auto environment = this->environment();
    environment["GPUTEST_LARGE"] = "wait";
    return ChildProcess{{TOOL, "run", "--memory", "large", "--", "/bin/true"}, environment};
  }

  /// What any process of the user can do: write to all wake-up FIFOs.
  void write_to_wake_fifos() const {
    for (const auto& file : fs::recursive_directory_iterator{path("ledger")}) {
      if (file.path().filename().string().rfind("wake.", 0) == 0) {
        const int fifo = ::open(file.path().c_str(), O_WRONLY | O_NONBLOCK);
        static_cast<void>(::write(fifo, "", 1) < 0);
        ::close(fifo);
      }
    }
  }

  /// Opens the gate, and returns when the supervisor has taken the case behind it.
  void let_supervisor_take_next_case() {
    const auto run = folders_of(ctest_->pid()).at(0);
    const int watch = ::inotify_init1(IN_CLOEXEC);
    for (const auto& entry : fs::directory_iterator{run}) {
      if (entry.is_directory()) {
        ::inotify_add_watch(watch, entry.path().c_str(), IN_DELETE);
      }
    }
    open_gate();
    alignas(inotify_event) std::array<char, 4096> event{};
    EXPECT_GT(::read(watch, event.data(), event.size()), 0); // only jobs are removed
    ::close(watch);
  }

  /// The folder in which clients and supervisors meet.
  [[nodiscard]] workers::Descriptor worker_key() const {
    return workers::open_own_folder(AT_FDCWD, meeting_folder_of(ctest_->pid()).c_str());
  }

  /// Or until it has ended.
  static void wait_until_it_polls(pid_t process) {
#ifdef SYS_poll
    constexpr long poll = SYS_poll;
#else
    constexpr long poll = SYS_ppoll;
#endif
    for (long call = -1; call != poll;) {
      std::ifstream file{"/proc/" + std::to_string(process) + "/syscall"};
      std::string word;
      if (!(file >> word)) {
        return;
      }
      call = word == "running" ? -1 : std::stol(word);
    }
  }

  /// The worker ends by itself.
  void expect_normal_end() const {
    wait_for_end_of(worker_);
    EXPECT_EQ(os::contents_of(path("ends")), "ended\n");
  }

  void expect_each_once(const std::map<std::string, Result>& results) const {
    for (const std::string name : {"Plain.a", "Plain.b"}) {
      const auto& result = results.at(name);
      EXPECT_EQ(result.word, "Passed") << name << result.output;
      EXPECT_EQ(result.times, 1) << name;
      EXPECT_EQ(result.processes.size(), 1U) << name << result.output;
    }
  }
  void expect_another_process(const std::map<std::string, Result>& results) const {
    expect_each_once(results);
    EXPECT_NE(results.at("Plain.a").processes, results.at("Plain.b").processes);
  }

  std::optional<ChildProcess> ctest_;
  pid_t worker_ = 0;
  pid_t supervisor_ = 0;
  bool gate_is_open_ = false;
};

TEST_F(IdleWorker, takes_the_next_case_if_nobody_needs_its_device) {
  begin();
  const auto results = finish();
  expect_each_once(results);
  EXPECT_EQ(results.at("Plain.a").processes, results.at("Plain.b").processes);
}

TEST_F(IdleWorker, takes_the_next_case_though_another_client_is_stopped) {
  begin();
  const auto folder = worker_key();
  const auto address = workers::address_in(folder, "new-job");
  const workers::Descriptor job{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)}; // nobody accepts it
  ASSERT_EQ(::bind(job.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(job.number(), 0), 0);
  ASSERT_EQ(::renameat(folder.number(), "new-job", folder.number(), "job-00000000000000000000-1"), 0);
  const auto results = finish();
  expect_each_once(results);
  EXPECT_EQ(results.at("Plain.a").processes, results.at("Plain.b").processes);
}

TEST_F(IdleWorker, whose_supervisor_is_stopped_is_ended_by_the_entry_that_ends_workers) {
  begin("");
  stop_supervisor();
  const auto end = finish().at("workers_end");
  EXPECT_EQ(end.word, "Passed");
  EXPECT_THAT(end.output,
              HasSubstr("gputest: waits until 1 worker ends: " + std::to_string(supervisor_) + " (gputest-supervi)"));
  expect_normal_end();
}

TEST_F(IdleWorker, whose_supervisor_is_stopped_ends_with_its_ctest) {
  begin("");
  stop_supervisor();
  ctest_->kill(SIGKILL);
  wait_for_end_of(worker_);
  wait_for_end_of(supervisor_);
  open_gate(); // whose process ctest has left
}

TEST_F(IdleWorker, is_waited_for_that_is_just_being_made) {
  begin("");
  const auto folder = worker_key();
  auto start = workers::open_lock_file(folder, "start");
  ASSERT_EQ(::flock(start.number(), LOCK_EX), 0); // as who makes a supervisor
  write_to_wake_fifos();
  wait_for_end_of(supervisor_); // the only one that there is
  open_gate();
  wait_until_it_polls(number_after(*ctest_, ": @end "));
  {
    const workers::PresenceLock made{folder, "processes"};
    start = {};
    EXPECT_TRUE(workers::note_end(folder, false, "", "was made late"));
  }
  const auto end = finish().at("workers_end");
  EXPECT_EQ(end.word, "Failed");
  EXPECT_THAT(end.output, HasSubstr("was made late"));
}

TEST_F(IdleWorker, leaves_for_a_large_command_of_another_process) {
  begin();
  stop_supervisor();
  const auto large = start_large().finish();
  EXPECT_EQ(large.exit_code, 0) << large.err;
  expect_normal_end();
  continue_supervisor();
  expect_another_process(finish());
}

TEST_F(IdleWorker, leaves_for_a_process_beside_which_it_may_not_be) {
  set("GPUTEST_PROCESSES_PER_DEVICE", "1");
  begin();
  stop_supervisor();
  const auto small = ChildProcess{{TOOL, "run", "--memory", "1MiB", "--", "/bin/true"}, environment()}.finish();
  EXPECT_EQ(small.exit_code, 0) << small.err;
  expect_normal_end();
  continue_supervisor();
  expect_another_process(finish());
}

TEST_F(IdleWorker, that_is_stopped_while_it_has_to_leave_does_so_when_it_continues) {
  begin();
  stop_supervisor();
  ::kill(worker_, SIGSTOP);
  auto large = start_large();
  large.wait_for_err("it is stopped");
  ::kill(worker_, SIGCONT);
  const auto ended = large.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  wait_for_end_of(worker_);
  continue_supervisor();
  expect_another_process(finish());
}

TEST_F(IdleWorker, that_is_killed_while_it_has_to_leave_lets_the_other_go_on) {
  begin();
  stop_supervisor();
  ::kill(worker_, SIGSTOP);
  auto large = start_large();
  large.wait_for_err("it is stopped");
  ::kill(worker_, SIGKILL);
  const auto ended = large.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  continue_supervisor();
  wait_for_end_of(supervisor_);
  const auto results = finish();
  expect_another_process(results);
  EXPECT_EQ(results.at("workers_end").word, "Failed");
  EXPECT_THAT(results.at("workers_end").output, HasSubstr("ended by the signal Killed when it had none to run"));
}

TEST_F(IdleWorker, only_leaves_if_a_process_of_its_user_writes_to_its_wake_up_fifo) {
  begin();
  write_to_wake_fifos();
  expect_normal_end();
  const auto results = finish();
  expect_another_process(results);
  EXPECT_THAT(results.at("Plain.b").output, Not(HasSubstr("gputest: Plain.b runs in a process of its own")));
}

TEST_F(IdleWorker, that_has_to_leave_does_not_begin_a_case_that_it_was_given) {
  begin();
  ::kill(worker_, SIGSTOP);
  let_supervisor_take_next_case();
  write_to_wake_fifos();
  ::kill(worker_, SIGCONT);
  const auto results = finish();
  expect_another_process(results);
  EXPECT_THAT(results.at("Plain.b").output, Not(HasSubstr("gputest: Plain.b runs in a process of its own")));
}

TEST_F(IdleWorker, that_is_killed_before_it_begins_a_case_that_it_was_given_is_not_that_cases_failure) {
  begin();
  ::kill(worker_, SIGSTOP);
  let_supervisor_take_next_case();
  ::kill(worker_, SIGKILL);
  expect_another_process(finish());
}

TEST_F(WorkerCase, announces_no_more_than_its_cases_ask_for) {
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=1GiB"); // of two workers neither could wait for takes_most
  let_cases_meet("");
  const auto results = run({"-j2"});
  EXPECT_EQ(results.at("Plain.meets_the_other").word, "Passed");
  EXPECT_EQ(results.at("Plain.meets_the_first").word, "Passed");
}

class BesideHolder : public WorkerCase {
protected:
  /// Another program that holds memory until its input is closed.
  [[nodiscard]] ChildProcess start_holder(const std::string& memory) const {
    ChildProcess holder{{TOOL, "run", "--memory", memory, "--", "/bin/sh", "-c", "echo @inside; read line"},
                        environment()};
    holder.wait_for_out("@inside");
    return holder;
  }
};

TEST_F(BesideHolder, runs_a_case_alone_for_which_its_worker_may_not_wait_beside_others) {
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=1GiB");
  add("Plain.a");
  add("Plain.takes_some", "", {}, "GPUTEST_MEMORY=1GiB", "DEPENDS Plain.a");
  add("Plain.takes_most", "", {}, "GPUTEST_MEMORY=3GiB", "DEPENDS Plain.takes_some");
  auto other = start_holder("small");
  auto ctest = start_ctest({"-j1"});
  ctest.wait_for_out("Plain.takes_most waits for");
  other.close_input();
  const auto results = results_of(ctest.finish().out);
  EXPECT_EQ(results.at("Plain.takes_some").processes, results.at("Plain.a").processes);
  EXPECT_EQ(results.at("Plain.takes_most").word, "Passed") << results.at("Plain.takes_most").output;
  EXPECT_THAT(results.at("Plain.takes_most").output, HasSubstr("it asks for 3 GiB, and beside the other processes"));
}

TEST_F(BesideHolder, runs_a_case_again_alone_that_was_stopped_and_nobody_is_blamed_for_the_end_of_its_worker) {
  add("Plain.a", "", {}, "", "FIXTURES_REQUIRED workers");
  add("Undeclared.takes_most", "", {}, "", "DEPENDS Plain.a FIXTURES_REQUIRED workers");
  add("Plain.b", "", {}, "", "DEPENDS Undeclared.takes_most FIXTURES_REQUIRED workers");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES},
              "FIXTURES_CLEANUP workers ENVIRONMENT GPUTEST_TEST=workers_end");
  auto other = start_holder("2GiB");
  auto ctest = start_ctest({"-j1"});
  ctest.wait_for_out("Undeclared.takes_most waits for");
  other.close_input();
  const auto results = results_of(ctest.finish().out);
  const auto& again = results.at("Undeclared.takes_most");
  EXPECT_EQ(again.word, "Passed") << again.output;
  ASSERT_EQ(again.processes.size(), 2U);
  EXPECT_EQ(again.processes.front(), results.at("Plain.a").processes.front()) << "first in the worker";
  EXPECT_THAT(again.output, HasSubstr("gputest: Undeclared.takes_most needs 3 GiB, and its estimated lease of 256 MiB "
                                      "could not grow: others hold the rest. It was stopped before it took them, and "
                                      "runs again with 3.38 GiB. "));
  EXPECT_THAT(again.output, Not(HasSubstr("failed")));
  EXPECT_EQ(results.at("Plain.b").word, "Passed");
  EXPECT_EQ(results.at("workers_end").word, "Passed") << results.at("workers_end").output;
  EXPECT_THAT(results.at("workers_end").output, HasSubstr("1 ended because a case needed more memory than there was"));
}

TEST_F(WorkerCase, sees_how_a_process_ends_after_cases_whose_worker_was_stopped_in_a_later_one) {
  add("Crash.at_an_idle_end", "", {}, "", "FIXTURES_REQUIRED workers");
  add("Undeclared.takes_most", "", {}, "", "DEPENDS Crash.at_an_idle_end FIXTURES_REQUIRED workers");
  add_command("workers_end", {ENTRY_PROGRAM, "--end", CASES},
              "FIXTURES_CLEANUP workers ENVIRONMENT GPUTEST_TEST=workers_end");
  ChildProcess other{{TOOL, "run", "--memory", "2GiB", "--", "/bin/sh", "-c", "echo @inside; read line"},
                     environment()};
  other.wait_for_out("@inside");
  auto ctest = start_ctest({"-j1"});
  ctest.wait_for_out("Undeclared.takes_most waits for");
  other.close_input();
  const auto results = results_of(ctest.finish().out);
  EXPECT_EQ(results.at("Undeclared.takes_most").word, "Passed") << results.at("Undeclared.takes_most").output;
  EXPECT_EQ(results.at("workers_end").word, "Failed");
  EXPECT_THAT(results.at("workers_end").output,
              AllOf(HasSubstr("@at the end"), HasSubstr("gputest: the process ended by the signal Aborted"),
                    HasSubstr("ran again: the cases before it ran once more at the end"),
                    HasSubstr("that had run 1 case, Crash.at_an_idle_end last, did not come to its end. To show how a "
                              "process ends after them, they ran again")));
}

/// A worker whose supervisor is this test.
class KeptWorker : public WorkerCase {
protected:
  using Message = workers::WorkerMessage;
  using Kind = Message::Kind;

  void start(const std::string& run_mode) {
    let_cases_meet();
    ASSERT_EQ(::mkfifo(path("meeting_again").c_str(), 0600), 0);
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    socket_ = os::Descriptor{ends[0]};
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    const os::Descriptor of_worker{ends[1]};
    set("GPUTEST_RUN_MODE", run_mode);
    set("GPUTEST_WORKER",
        std::to_string(workers::worker_protocol) + ":" + std::to_string(ends[1]) + ":" + std::to_string(::getpid()));
    worker_.emplace(std::vector<std::string>{CASES, "--gtest_filter=-*"}, environment());
    set("GPUTEST_WORKER", "");
    EXPECT_EQ(next(), "1") << "ready";
  }

  bool give(const std::string& filter) {
    Message job;
    job.kind = Kind::job;
    job.texts = {filter, "", "GPUTEST_TEST=" + filter};
    const os::Descriptor null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    return send_message(socket_.number(), job, {null.number(), null.number(), null.number()});
  }

  /// The kinds of the next messages, up to a verdict or the end.
  [[nodiscard]] std::string next() {
    std::string kinds;
    for (Message message; receive_message(socket_.number(), message) == workers::Received::message;) {
      kinds += std::to_string(static_cast<int>(message.kind));
      if (message.kind == Kind::ready || message.kind == Kind::verdict) {
        break;
      }
    }
    return kinds;
  }

  /// A case holds the device until a request for the whole device waits; then there is another one at once, or none
  /// yet.
  void run_a_case_until_another_process_waits(const std::string& next_case) {
    ASSERT_TRUE(give("Plain.meets_twice"));
    const os::Descriptor meeting{::open(path("meeting").c_str(), O_RDONLY | O_CLOEXEC)}; // so it has its lease
    set("GPUTEST_LARGE", "wait");
    other_.emplace(std::vector<std::string>{TOOL, "run", "--memory", "large", "--", "/bin/true"}, environment());
    other_->wait_for_err("waits for");
    EXPECT_TRUE(next_case.empty() || give(next_case));
    const os::Descriptor again{::open(path("meeting_again").c_str(), O_RDONLY | O_CLOEXEC)};
  }

  os::Descriptor socket_;
  std::optional<ChildProcess> worker_;
  std::optional<ChildProcess> other_;
};

TEST_F(KeptWorker, takes_the_next_case_before_it_leaves_for_others_where_tests_run_in_parallel) {
  start("parallel");
  run_a_case_until_another_process_waits("Plain.a");
  EXPECT_EQ(next(), "63") << "it has begun, and has a verdict";
  EXPECT_EQ(next(), "63") << "and so has the next one";
  EXPECT_EQ(next(), "") << "it has left";
  EXPECT_EQ(other_->finish().exit_code, 0);
}

TEST_F(KeptWorker, leaves_for_others_before_the_next_case_where_one_test_runs_at_a_time) {
  start("serial");
  run_a_case_until_another_process_waits("");
  EXPECT_EQ(next(), "63") << "it has begun, and has a verdict";
  static_cast<void>(give("Plain.a")); // unless it has left already
  EXPECT_EQ(next(), "") << "it has left";
  EXPECT_EQ(other_->finish().exit_code, 0);
}

} // namespace
} // namespace gputest::tests
