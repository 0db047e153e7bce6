// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/supervised_command.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "supervise/descendants.hpp"
#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::supervise {
namespace {

TEST(SupervisedCommand, ends_with_its_status_if_the_parent_of_the_launcher_ignores_the_end_of_children) {
  EXPECT_EQ(tests::in_child([] {
              std::signal(SIGCHLD, SIG_IGN); // inherited by what a process starts
              const CommandEnd end = run_supervised({"/bin/sh", "-c", "exit 3"});
              return end.error == 0 && end.signal == 0 ? end.status : 1;
            }),
            3);
}

/// How a command ended that a child of this test has run.
int end_in_child(std::vector<std::string> command, const CommandEnd& expected) {
  return tests::in_child([&] {
    ::setenv("PATH", "/usr/bin:/bin", 1);
    const CommandEnd end = run_supervised(std::move(command));
    return end.error == expected.error && end.status == expected.status && end.signal == expected.signal ? 0 : 1;
  });
}

TEST(SupervisedCommand, tells_how_the_command_has_ended_or_why_it_was_not_started) {
  EXPECT_EQ(end_in_child({"true"}, {0, 0, 0}), 0);
  EXPECT_EQ(end_in_child({"sh", "-c", "test \"$1\" = 'two words' && exit 9", "sh", "two words"}, {0, 9, 0}), 0);
  EXPECT_EQ(end_in_child({"sh", "-c", "kill -USR2 $$"}, {0, 0, SIGUSR2}), 0);
#if !defined(__SANITIZE_THREAD__) // it makes a fork() of each vfork(), whose child's errno nobody sees
  EXPECT_EQ(end_in_child({"no-such-program"}, {ENOENT, 127, 0}), 0);
  EXPECT_EQ(end_in_child({"/dev/null"}, {EACCES, 127, 0}), 0);
#endif
}

/// From now on the kernel refuses this system call of this process. False: no filter of calls can be had here.
bool is_refused(int call) {
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{filter.size(), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(SupervisedCommand, is_not_waited_for_without_end_where_the_kernel_refuses_to_wait) {
  constexpr int no_filter = 100;
  for (const auto& [call, name] : {std::pair{SYS_wait4, "waitpid"}, std::pair{SYS_ppoll, "ppoll"}}) {
    const int found = tests::in_child([call = call, name = name] {
      if (!is_refused(call)) {
        return no_filter;
      }
      try {
        static_cast<void>(run_supervised({"sleep", "1000"}));
      } catch (const Error& error) {
        return std::string{error.what()}.find(name) == std::string::npos ? 1 : 0;
      }
      return 2;
    });
    if (found == no_filter) {
      GTEST_SKIP() << "a filter of system calls (seccomp) cannot be had here";
    }
    EXPECT_EQ(found, 0) << name;
  }
}

TEST(SupervisedCommand, gets_each_signal_that_its_launcher_is_sent) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    // What the command itself does not block or ignore ends it.
    const std::string sends = "kill -" + std::to_string(signal) + " $PPID; exec sleep 1000";
    EXPECT_EQ(end_in_child({"sh", "-c", sends}, {0, 0, signal}), 0) << signal;
  }
}

TEST(SupervisedCommand, begins_with_the_mask_of_its_launcher_also_if_it_is_the_second) {
  EXPECT_EQ(tests::in_child([] {
              return run_supervised({"true"}).status == 0 &&
                             run_supervised({"/bin/sh", "-c", "kill -TERM $$; exit 3"}).signal == SIGTERM
                         ? 0
                         : 1;
            }),
            0);
}

TEST(SupervisedCommand, keeps_signals_from_its_launcher_which_has_to_say_how_it_ended) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    EXPECT_EQ(tests::in_child([&] {
                if (run_supervised({"true"}).status != 0) {
                  return 1;
                }
                ::raise(signal);
                sigset_t pending{};
                ::sigpending(&pending);
                return ::sigismember(&pending, signal) == 1 ? 0 : 2;
              }),
              0);
  }
}

TEST(SupervisedCommand, is_ended_with_all_that_it_has_started_when_its_limit_is_over) {
  const tests::PrivateFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() + "/fifo").c_str(), 0600), 0);
  const os::Descriptor fifo{::open((folder.path() + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  EXPECT_EQ(tests::in_child([&] {
              os::TestStatusPage page;
              const auto end = run_supervised(
                  {"sh", "-c", "exec > " + folder.path() + "/fifo; setsid sleep 1000 & trap '' TERM INT; sleep 1000"},
                  {std::chrono::milliseconds{100}, &page, {}});
              return end.timed_out && end.left_behind.empty() && end.signal == SIGKILL ? 0 : 1;
            }),
            0);
  char byte = 0;
  EXPECT_EQ(::fcntl(fifo.number(), F_SETFL, 0), 0);
  EXPECT_EQ(::read(fifo.number(), &byte, 1), 0) << "nobody has it open any more";
}

TEST(SupervisedCommand, is_sent_a_signal_first_when_its_limit_is_over_and_has_timed_out_however_it_ends_then) {
  const auto end = [](const std::string& script, std::chrono::nanoseconds grace) {
    os::TestStatusPage page;
    Watch watch{std::chrono::milliseconds{100}, &page, {}};
    watch.first_signal = SIGUSR1;
    watch.grace = grace;
    return run_supervised({"sh", "-c", script}, watch);
  };
  EXPECT_EQ(tests::in_child([&] {
              const auto ended = end("trap 'exit 3' USR1; while :; do :; done", std::chrono::hours{1});
              return ended.timed_out && ended.status == 3 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(tests::in_child([&] {
              const auto ended = end("while :; do :; done", std::chrono::hours{1});
              return ended.timed_out && ended.signal == SIGUSR1 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(tests::in_child([&] {
              const auto ended = end("trap '' USR1; while :; do :; done", std::chrono::milliseconds{100});
              return ended.timed_out && ended.signal == SIGKILL ? 0 : 1;
            }),
            0);
}

TEST(SupervisedCommand, leaves_what_it_has_started_the_time_after_the_signal_though_it_ends_by_it) {
  const auto output = [](const std::string& started, std::chrono::nanoseconds grace) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    EXPECT_EQ(tests::in_child([&] {
                ::dup2(ends[1], STDOUT_FILENO);
                os::TestStatusPage page;
                Watch watch{std::chrono::milliseconds{300}, &page, {}};
                watch.first_signal = SIGUSR1;
                watch.grace = grace;
                const auto end = run_supervised(
                    {"sh", "-c", "trap 'exit 3' USR1; (" + started + ") & while :; do sleep 0.01; done"}, watch);
                return end.timed_out && end.left_behind.empty() && end.status == 3 ? 0 : 1;
              }),
              0);
    ::close(ends[1]);
    const auto written = os::read_to_end(ends[0]).value_or("");
    ::close(ends[0]);
    return written;
  };
  EXPECT_EQ(output("while kill -0 $$ 2> /dev/null; do :; done; sleep 0.1; echo report", std::chrono::hours{1}),
            "report\n");
  EXPECT_EQ(output("echo begun; exec sleep 1000", std::chrono::milliseconds{100}), "begun\n") << "it is ended then";
}

TEST(SupervisedCommand, is_not_ended_while_it_waits_for_a_device) {
  EXPECT_EQ(tests::in_child([] {
              os::TestStatusPage page;
              os::set_status_page_of_process(os::TestStatusPage::open(page.path()));
              const os::PauseTimeLimit waits{std::chrono::hours{1}}; // as if the command did
              const auto end = run_supervised({"sleep", "0.2"}, {std::chrono::milliseconds{100}, &page, {}});
              return end.timed_out ? 1 : 0;
            }),
            0);
}

TEST(SupervisedCommand, is_ended_although_it_waits_for_a_device_where_that_is_stopped) {
  EXPECT_EQ(tests::in_child([] {
              os::TestStatusPage page;
              const pid_t waiter = tests::start_keeper([&] { // as if the command did
                os::set_status_page_of_process(os::TestStatusPage::open(page.path()));
                return std::make_unique<os::PauseTimeLimit>(std::chrono::hours{1});
              });
              ::kill(waiter, SIGSTOP);
              const auto end = run_supervised({"sleep", "1000"}, {std::chrono::milliseconds{100}, &page, {}});
              ::kill(waiter, SIGKILL);
              return end.timed_out ? 0 : 1;
            }),
            0);
}

/// What a watcher says of a command that leaves a process behind.
int end_of_one_that_leaves_a_process(const std::string& redirection) {
  const tests::PrivateFolder folder;
  const auto pid = folder.path() + "/pid";
  std::array<int, 2> output{};
  EXPECT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  const int status = tests::in_child([&] {
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(output[1], STDERR_FILENO);
    os::TestStatusPage page;
    const auto end = run_supervised({"sh", "-c", "setsid sleep 1000 " + redirection + " & echo $! > " + pid},
                                    {std::chrono::milliseconds{200}, &page, {}});
    const bool names_it = end.left_behind.find("(sleep)") != std::string::npos;
    return end.status != 0 ? 1 : !end.timed_out ? 2 : names_it ? 3 : 4;
  });
  ::close(output[1]);
  char byte = 0;
  EXPECT_EQ(::read(output[0], &byte, 1), 0) << "nobody has it open any more";
  ::close(output[0]);
  pid_t process = 0;
  std::ifstream{pid} >> process;
  EXPECT_GT(process, 0);
  ::kill(process, SIGKILL);
  return status;
}

TEST(SupervisedCommand, ends_what_it_has_left_behind_with_its_output_when_the_limit_is_over) {
  EXPECT_EQ(end_of_one_that_leaves_a_process(""), 3);
  EXPECT_EQ(end_of_one_that_leaves_a_process("> /dev/null 2>&1"), 2) << "such as a server that a fixture starts";
}

TEST(SupervisedCommand, is_not_waited_for_beyond_its_limit_whoever_has_its_output) {
  const tests::PrivateFolder folder;
  for (const auto* name : {"/begun", "/go"}) {
    ASSERT_EQ(::mkfifo((folder.path() + name).c_str(), 0600), 0);
  }
  std::array<int, 2> output{};
  ASSERT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  os::TestStatusPage page;
  os::set_status_page_of_process(os::TestStatusPage::open(page.path()));
  std::optional<os::PauseTimeLimit> until_it_is_held{std::in_place, std::chrono::hours{1}};
  os::set_status_page_of_process(nullptr);
  const pid_t watcher = tests::start_child([&] {
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(output[1], STDERR_FILENO);
    const auto end = run_supervised(
        {"sh", "-c", "echo $$ > " + folder.path() + "/begun; read x < " + folder.path() + "/go; echo written"},
        {std::chrono::milliseconds{100}, &page, {}});
    return end.timed_out && end.left_behind == "processes that could not be found" ? 0 : 1;
  });
  ::close(output[1]);
  pid_t command = 0;
  std::ifstream{folder.path() + "/begun"} >> command;
  const os::Descriptor held{
      ::open(("/proc/" + std::to_string(command) + "/fd/2").c_str(), O_WRONLY | O_CLOEXEC)}; // not below the watcher
  EXPECT_TRUE(held);
  std::ofstream{folder.path() + "/go"} << "on\n";
  std::string written(8, ' ');
  EXPECT_EQ(::read(output[0], written.data(), written.size()), 8);
  until_it_is_held.reset();
  int status = -1;
  ::waitpid(watcher, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(written, "written\n");
  EXPECT_EQ(os::read_to_end(output[0]), "") << "CTest waits for nobody";
  ::close(output[0]);
}

TEST(SupervisedCommand, is_not_started_if_its_limit_could_not_end_what_holds_its_output) {
  EXPECT_EQ(tests::in_child([] {
              std::array<int, 2> ends{};
              static_cast<void>(::pipe2(ends.data(), O_CLOEXEC));
              ::dup2(ends[1], STDOUT_FILENO);
              os::TestStatusPage page;
              const int free = ::dup(ends[0]); // all above it are refused, and a pipe needs two
              ::close(free);
              const rlimit limit{static_cast<rlim_t>(free) + 1, static_cast<rlim_t>(free) + 1};
              ::setrlimit(RLIMIT_NOFILE, &limit);
              try {
                const CommandEnd end = run_supervised({"/bin/true"}, {std::chrono::seconds{1000}, &page, {}});
                return end.error;
              } catch (const Error& error) {
                return std::string{error.what()}.find("cannot be passed on") == std::string::npos ? 201 : 200;
              }
            }),
            200);
}

TEST(SupervisedCommand, has_what_it_writes_passed_on_to_the_streams_of_its_launcher) {
  std::array<int, 2> output{};
  std::array<int, 2> errors{};
  ASSERT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(errors.data(), O_CLOEXEC), 0);
  const pid_t watcher = tests::start_child([&] {
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    os::TestStatusPage page;
    return run_supervised({"sh", "-c", "head -c 300000 /dev/zero; echo of errors >&2; exit 5"},
                          {std::chrono::seconds{1000}, &page, {}})
        .status;
  });
  ::close(output[1]);
  ::close(errors[1]);
  EXPECT_EQ(os::read_to_end(output[0]), std::string(300000, '\0'));
  EXPECT_EQ(os::read_to_end(errors[0]), "of errors\n");
  int status = -1;
  ::waitpid(watcher, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  ::close(output[0]);
  ::close(errors[0]);
}

TEST(SupervisedCommand, is_told_that_nobody_reads_its_output_any_more) {
  std::array<int, 2> output{};
  ASSERT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  ::close(output[0]);
  EXPECT_EQ(tests::in_child([&] {
              std::signal(SIGPIPE, SIG_DFL);
              ::dup2(output[1], STDOUT_FILENO);
              os::TestStatusPage page;
              const Watch watch{std::chrono::seconds{1000}, &page, {}};
              const auto writes = [&](const std::string& first) {
                return run_supervised({"sh", "-c", first + "while echo more; do :; done; exit 5"}, watch);
              };
              return writes("trap '' PIPE; exec 2>&1;").status != 5 ? 1 : writes("").signal != SIGPIPE ? 2 : 0;
            }),
            0);
  ::close(output[1]);
}

TEST(SupervisedCommand, is_ended_at_its_limit_though_its_output_is_not_read_meanwhile) {
  const tests::PrivateFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() + "/fifo").c_str(), 0600), 0);
  for (const int flags : {O_CLOEXEC, O_CLOEXEC | O_NONBLOCK}) { // of a stream that others have, too
    std::array<int, 2> output{};
    ASSERT_EQ(::pipe2(output.data(), flags), 0);
    const pid_t watcher = tests::start_child([&] {
      ::dup2(output[1], STDOUT_FILENO);
      os::TestStatusPage page;
      const auto end = run_supervised({"sh", "-c", "exec 3> " + folder.path() + "/fifo; while echo more; do :; done"},
                                      {std::chrono::milliseconds{200}, &page, {}});
      return end.timed_out && end.left_behind.empty() ? 0 : 1;
    });
    ::close(output[1]);
    const os::Descriptor fifo{::open((folder.path() + "/fifo").c_str(), O_RDONLY | O_CLOEXEC)};
    EXPECT_EQ(os::read_to_end(fifo.number()), "") << "the command has ended";
    ::fcntl(output[0], F_SETFL, 0);
    EXPECT_GT(os::read_to_end(output[0]).value_or("").size(), 1U << 16U) << "what was written before is not lost";
    EXPECT_EQ(tests::end_of(watcher), 0);
    ::close(output[0]);
  }
}

TEST(SupervisedCommand, is_not_late_because_its_output_is_passed_on_after_its_limit) {
  std::array<int, 2> output{};
  ASSERT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  const pid_t parent = tests::start_child([&] {
    const pid_t watcher = tests::start_child([&] {
      while (os::state_of(::getppid()) != os::ProcessState::stopped) { // ends nothing at its limit
        ::sched_yield();
      }
      ::dup2(output[1], STDOUT_FILENO);
      os::TestStatusPage page;
      const auto end = run_supervised({"sh", "-c", "printf %010d $$; head -c 100000 /dev/zero; exit 5"},
                                      {std::chrono::nanoseconds{1}, &page, {}});
      return end.timed_out ? 1 : end.status;
    });
    ::raise(SIGSTOP);
    return tests::end_of(watcher);
  });
  ::close(output[1]);
  int status = 0;
  ::waitpid(parent, &status, WUNTRACED);
  constexpr std::size_t digits = 10; // of the command's pid
  std::string written(digits + 100000, ' ');
  for (std::size_t size = 0; size < written.size();) {
    const auto count = ::read(output[0], written.data() + size, written.size() - size);
    ASSERT_GT(count, 0);
    size += static_cast<std::size_t>(count);
  }
  EXPECT_EQ(written.substr(digits), std::string(100000, '\0'));
  while (os::state_of(std::stoi(written)) != os::ProcessState::ended) { // else it is late
    ::sched_yield();
  }
  ::kill(parent, SIGCONT);
  EXPECT_EQ(tests::end_of(parent), 5);
  ::close(output[0]);
}

TEST(SupervisedCommand, begins_with_the_signals_of_its_launcher_though_that_has_run_another) {
  EXPECT_EQ(tests::in_child([&] {
              static_cast<void>(run_supervised({"true"}));
              return run_supervised({"sh", "-c", "kill -TERM $$; kill -PIPE $$"}).signal == SIGTERM ? 0 : 1;
            }),
            0);
}

/// How often a signal reaches the command that is sent to the process group of its launcher, which may lead it.
int times_of_a_signal_to_the_group(bool leads) {
  const std::string script =
      "read -r a b c d own rest < /proc/$$/stat; of_launcher=$own\n"
      "until [ $own != $of_launcher ]; do read -r a b c d of_launcher rest < /proc/$PPID/stat; done\n"
      "n=0; trap 'n=$((n + 1))' USR1; trap 'exit $n' USR2\n"
      "kill -USR1 -" +
      std::string{leads ? "$of_launcher" : "$own"} +
      "\n" // one signal is passed on before a later one
      "kill -USR2 $PPID; while :; do sleep 0.01; done";
  return tests::in_child([&] {
    ::setpgid(0, 0);
    std::signal(SIGUSR1, [](int) {});
    return tests::in_child([&] {
      if (leads) {
        ::setpgid(0, 0);
      }
      const pid_t group = ::getpgrp();
      const auto end = run_supervised({"sh", "-c", script});
      return ::getpgrp() == group ? end.status : 100;
    });
  });
}

TEST(SupervisedCommand, gets_a_signal_to_its_process_group_once) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer's runtime hides who has sent a signal";
#endif
  EXPECT_EQ(times_of_a_signal_to_the_group(false), 1);
  EXPECT_EQ(times_of_a_signal_to_the_group(true), 1);
}

/// The exit status of a watched command whose parent's parent leads a session without job control.
int end_in_a_session_without_job_control(const std::string& script) {
  return tests::in_child([&] {
    ::setsid();
    return tests::in_child([&] {
      os::TestStatusPage page;
      const auto end = run_supervised({"sh", "-c", script}, {{}, &page, {}});
      end_descendants();
      return end.status;
    });
  });
}

TEST(SupervisedCommand, leaves_its_process_group_orphaned_as_it_is) {
  EXPECT_EQ(end_in_a_session_without_job_control("kill -TSTP $$; exit 3"), 3) << "a group without a shell never stops";
  EXPECT_EQ(end_in_a_session_without_job_control("sleep 1000 >/dev/null 2>&1 & kill -STOP $!\n"
                                                 "until grep -q '^State:.T' /proc/$!/status; do :; done; exit 3"),
            3)
      << "the kernel ends a group by SIGHUP that becomes orphaned with a stopped process";
}

TEST(SupervisedCommand, stops_and_ends_with_the_parent_of_its_watcher_if_it_runs_again) {
  const tests::PrivateFolder folder;
  const std::string fifo = folder.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const pid_t parent = tests::start_child([&] {
    return tests::in_child([&] {
      for (const std::string& script : {std::string{"exit 0"}, "exec 3>" + fifo + "; echo $$ >&3; exec sleep 1000"}) {
        os::TestStatusPage page;
        static_cast<void>(run_supervised({"sh", "-c", script}, {{}, &page, {}}));
      }
      return 0;
    });
  });
  std::ifstream said{fifo};
  pid_t command = 0;
  ASSERT_TRUE(said >> command);
  for (const bool stops : {true, false}) {
    ::kill(parent, stops ? SIGSTOP : SIGCONT);
    while ((os::state_of(command) == os::ProcessState::stopped) != stops) {
      os::KernelClock::sleep_for(std::chrono::milliseconds{1});
    }
  }
  ::kill(parent, SIGKILL);
  EXPECT_EQ(tests::end_of(parent), -SIGKILL);
  std::string line;
  EXPECT_FALSE(std::getline(said >> std::ws, line)) << "blocks as long as the command runs";
}

TEST(EndOfAProcess, is_told_and_brought_about_whatever_the_process_has_inherited) {
  const auto status_of = [](const auto& end) {
    int status = 0;
    ::waitpid(tests::start_child(end), &status, 0);
    return status;
  };
  const int failed = status_of([] { return 3; });
  const int killed = status_of([] { return ::raise(SIGKILL); });
  EXPECT_EQ(describe_end(failed), "with the exit code 3");
  EXPECT_EQ(describe_end(killed), "by the signal Killed");
  for (const auto change : {SIG_DFL, SIG_IGN}) {
    const int status = status_of([&]() -> int { // which has to end, whatever it has inherited
      std::signal(SIGTERM, change);
      sigset_t all{};
      ::sigfillset(&all);
      ::sigprocmask(SIG_BLOCK, &all, nullptr);
      end_by_signal(SIGTERM);
    });
    EXPECT_EQ(describe_end(status), "by the signal Terminated");
  }
}

} // namespace
} // namespace gputest::supervise
