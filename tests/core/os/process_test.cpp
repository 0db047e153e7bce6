// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/process.hpp"

#include "core/os/file.hpp"
#include "support/child_process.hpp"
#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gputest::os {
namespace {

using Strings = std::vector<std::string>;

// No process has this one: it is above what Linux gives out.
constexpr pid_t nobody = 1 << 23;

tests::ChildProcess start_cat(const Strings& arguments = {}) {
  Strings command{"/bin/cat"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return tests::ChildProcess{command, {{"NAME", "a=b"}, {"EMPTY", ""}}};
}

TEST(Process, exists_also_where_it_is_another_users) {
  EXPECT_EQ(tests::in_child([] {
              tests::become_nobody(); // root may send signals to all processes
              return exists(1) ? 0 : 1;
            }),
            0);
}

TEST(Process, knows_whether_one_runs_is_stopped_or_has_ended) {
  EXPECT_EQ(state_of(own_pid()), ProcessState::running);
  EXPECT_EQ(state_of(nobody), ProcessState::ended);
  auto cat = start_cat();
  const auto started = start_time_of(cat.pid()).value_or(0);
  EXPECT_FALSE(is_stopped(cat.pid(), started));
  cat.kill(SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(cat.pid(), &status, WUNTRACED), cat.pid());
  EXPECT_EQ(state_of(cat.pid()), ProcessState::stopped);
  EXPECT_TRUE(is_stopped(cat.pid(), started));
  EXPECT_FALSE(is_stopped(cat.pid(), started + 1)) << "another process, of another pid namespace";
  EXPECT_FALSE(is_stopped(nobody, started));
  cat.kill(SIGCONT);
  ASSERT_EQ(::waitpid(cat.pid(), &status, WCONTINUED), cat.pid());
  EXPECT_EQ(state_of(cat.pid()), ProcessState::running);
  EXPECT_FALSE(is_stopped(cat.pid(), started));
  EXPECT_FALSE(has_ended(cat.pid(), started));
  EXPECT_TRUE(has_ended(nobody, started));
  cat.kill(SIGKILL);
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(cat.pid()), nullptr, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(state_of(cat.pid()), ProcessState::ended) << "and its parent does not know yet";
  EXPECT_TRUE(has_ended(cat.pid(), started));
  EXPECT_FALSE(has_ended(cat.pid(), started + 1)) << "another process";
}

TEST(Process, does_not_take_one_for_stopped_that_is_traced) {
  auto cat = start_cat();
  if (::ptrace(PTRACE_ATTACH, cat.pid(), nullptr, nullptr) != 0) {
    GTEST_SKIP() << "ptrace() is not allowed";
  }
  int status = 0;
  ASSERT_EQ(::waitpid(cat.pid(), &status, 0), cat.pid());
  EXPECT_EQ(state_of(cat.pid()), ProcessState::running);
  EXPECT_FALSE(is_stopped(cat.pid(), start_time_of(cat.pid()).value_or(0)));
  ::ptrace(PTRACE_DETACH, cat.pid(), nullptr, nullptr);
}

TEST(Process, knows_a_child) {
  auto cat = start_cat({"-", "", "two words"});
  cat.say("ready");
  cat.wait_for_out("ready"); // it is past its exec()
  EXPECT_EQ(parent_of(cat.pid()), own_pid());
  EXPECT_EQ(command_line_of(cat.pid()), (Strings{"/bin/cat", "-", "", "two words"}));
  EXPECT_EQ(variable_of(cat.pid(), "NAME"), "a=b");
  EXPECT_EQ(variable_of(cat.pid(), "EMPTY"), "");
  EXPECT_EQ(variable_of(cat.pid(), "NAM"), std::nullopt);
  EXPECT_EQ(executable_of(cat.pid()), std::filesystem::canonical("/bin/cat").string());
  EXPECT_EQ(working_directory_of(cat.pid()), std::filesystem::current_path().string());
}

TEST(Process, finds_the_parent_behind_any_name) {
  const tests::PrivateFolder folder;
  const std::string program = folder.path() + "/a) R 1 (b";
  std::filesystem::copy_file("/bin/cat", program);
  tests::ChildProcess cat{{program}, {}};
  cat.say("ready");
  cat.wait_for_out("ready");
  EXPECT_EQ(parent_of(cat.pid()), own_pid());
}

TEST(Process, exists_until_it_is_reaped) {
  const pid_t pid = ::fork();
  if (pid == 0)
    ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(exists(pid));
  EXPECT_EQ(command_line_of(pid), Strings{});
  EXPECT_EQ(executable_of(pid), std::nullopt);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_FALSE(exists(pid));
}

TEST(Process, is_ending_when_its_first_thread_has_ended_and_another_has_not) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(pipe[1]);
    std::thread{[&] {
      char end = 0;
      static_cast<void>(::read(pipe[0], &end, 1) + 1); // until the parent closes its end
      ::_exit(0);
    }}.detach();
    ::syscall(SYS_exit, 0); // of this thread alone
  }
  ::close(pipe[0]);
  while (state_of(pid) == ProcessState::running) {
    std::this_thread::yield();
  }
  EXPECT_EQ(state_of(pid), ProcessState::ending);
  ::close(pipe[1]);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(state_of(pid), ProcessState::ended);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_EQ(state_of(pid), ProcessState::ended);
}

TEST(Process, reports_nothing_of_a_process_that_does_not_exist) {
  EXPECT_FALSE(exists(nobody));
  EXPECT_FALSE(exists(0));
  EXPECT_FALSE(exists(-1));
  EXPECT_EQ(parent_of(nobody), std::nullopt);
  EXPECT_EQ(command_line_of(nobody), Strings{});
  EXPECT_EQ(variable_of(nobody, "NAME"), std::nullopt);
  EXPECT_EQ(executable_of(nobody), std::nullopt);
  EXPECT_EQ(working_directory_of(nobody), std::nullopt);
}

TEST(ContentsOf, is_all_of_a_file_and_nothing_for_what_is_none) {
  EXPECT_EQ(contents_of("/proc/no-such-file"), std::nullopt);
  EXPECT_EQ(contents_of("/proc"), std::nullopt);
  EXPECT_EQ(contents_of("/dev/null"), "");
  const tests::PrivateFolder folder;
  folder.write("file", std::string(10'000, 'x'), 0600);
  EXPECT_EQ(contents_of(folder.path() + "/file"), std::string(10'000, 'x'));
}

TEST(Process, sees_a_child_that_was_waited_for_that_nobody_waits_for_and_that_is_still_there) {
  auto before = children_seen();
  EXPECT_EQ(children_seen(), before);
  EXPECT_FALSE(has_children());
  EXPECT_EQ(std::system("true"), 0); // NOLINT(cert-env33-c,concurrency-mt-unsafe): no fork()
  EXPECT_NE(children_seen(), std::exchange(before, children_seen()));
  const auto handler = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(tests::in_child([] { return 0; }), -1000) << "the kernel has waited for it";
  std::signal(SIGCHLD, handler);
  EXPECT_NE(children_seen(), std::exchange(before, children_seen()));
  EXPECT_EQ(children_seen(), before);
  EXPECT_FALSE(has_children());
  tests::ChildProcess child{{"cat"}, {}};
  EXPECT_TRUE(has_children());
}

TEST(Process, has_pids_that_mean_something_else_in_another_pid_namespace) {
  const auto here = pids_identity();
  EXPECT_NE(here, 0U);
  EXPECT_EQ(tests::in_child([&] { return pids_identity() == here ? 0 : 1; }), 0);
  EXPECT_EQ(tests::in_child([&] {
              if (::unshare(CLONE_NEWPID) != 0) {
                return 0; // it may not make one
              }
              return tests::in_child([&] { return pids_identity() != here ? 0 : 1; });
            }),
            0);
}

TEST(Process, has_a_constant_start_time_that_a_later_process_does_not_have) {
  const auto own = start_time_of(own_pid());
  ASSERT_TRUE(own);
  EXPECT_EQ(start_time_of(own_pid()), own);
  EXPECT_GT(*own, *start_time_of(1));
  const auto ticks_now = [] {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto ticks_a_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return static_cast<std::uint64_t>(now.tv_sec) * ticks_a_second +
           static_cast<std::uint64_t>(now.tv_nsec) * ticks_a_second / 1'000'000'000U;
  };
  const auto before = ticks_now();
  const auto cat = start_cat();
  EXPECT_GE(*start_time_of(cat.pid()) + 1, before);
  EXPECT_LE(*start_time_of(cat.pid()), ticks_now() + 1);
  EXPECT_FALSE(start_time_of(999999999));
}

} // namespace
} // namespace gputest::os
