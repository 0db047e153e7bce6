// SPDX-License-Identifier: BSD-3-Clause
#include "platform/supervised_command.hpp"

#include "platform/descriptor.hpp"
#include "support/in_child.hpp"
#include "support/private_folder.hpp"
#include "support/use_up_descriptors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::platform {
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
  EXPECT_EQ(end_in_child({"no-such-program"}, {ENOENT, 127, 0}), 0);
  EXPECT_EQ(end_in_child({"/dev/null"}, {EACCES, 127, 0}), 0);
}

TEST(SupervisedCommand, cannot_be_started_without_a_descriptor_or_a_process_left) {
  EXPECT_EQ(tests::in_child([] {
              tests::use_up_descriptors(1);
              return run_supervised({"true"}).error;
            }),
            EMFILE);
  EXPECT_EQ(tests::in_child([] {
              tests::become_nobody();
              const rlimit none{0, 0};
              ::setrlimit(RLIMIT_NPROC, &none);
              return run_supervised({"true"}).error;
            }),
            EAGAIN);
}

TEST(SupervisedCommand, gets_each_signal_that_its_launcher_is_sent) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    // What the command itself does not block or ignore ends it.
    const std::string sends = "kill -" + std::to_string(signal) + " $PPID; exec sleep 1000";
    EXPECT_EQ(end_in_child({"sh", "-c", sends}, {0, 0, signal}), 0) << signal;
  }
}

TEST(SupervisedCommand, has_the_signals_blocked_that_its_launcher_had) {
  const auto blocked_are = [](const std::string& signals) { // not looked at by a shell, which unblocks all
    return run_supervised({"grep", "-q", "^SigBlk:.*" + signals + "$", "/proc/self/status"}).status;
  };
  EXPECT_EQ(tests::in_child([&] { return blocked_are("0000000000000000"); }), 0);
  EXPECT_EQ(tests::in_child([&] {
              sigset_t set{};
              ::sigemptyset(&set);
              ::sigaddset(&set, SIGUSR1);
              ::sigprocmask(SIG_BLOCK, &set, nullptr);
              return blocked_are("0000000000000200");
            }),
            0);
}

TEST(SupervisedCommand, leaves_its_launcher_the_signals_that_end_it_until_they_are_let_in) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    EXPECT_EQ(tests::in_child([&] {
                if (run_supervised({"true"}).status != 0) {
                  return 1;
                }
                ::raise(signal);
                sigset_t pending{};
                ::sigpending(&pending);
                if (::sigismember(&pending, signal) == 0) {
                  return 2;
                }
                unblock_signals();
                return 3;
              }),
              -signal);
  }
}

TEST(SupervisedCommand, is_looked_at_while_it_runs) {
  const tests::PrivateFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(
      tests::in_child([&] {
        const Descriptor fifo{::open((folder.path() + "/fifo").c_str(), O_RDWR | O_CLOEXEC)};
        int looks = 0;
        const auto look = [&] {
          if (++looks == 2) { // it goes on when it has been looked at twice
            static_cast<void>(::write(fifo.number(), "4\n", 2) + 1);
          }
        };
        return run_supervised({"sh", "-c", "read status < " + folder.path() + "/fifo; exit $status"}, look).status;
      }),
      4);
}

TEST(SupervisedCommand, writes_behind_what_its_launcher_has_printed) {
  const tests::PrivateFolder folder;
  const std::string path = folder.path() + "/out";
  EXPECT_EQ(tests::in_child([&] {
              const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
              ::dup2(file, STDOUT_FILENO);
              std::fputs("printed ", stdout);
              return run_supervised({"echo", "text"}).status;
            }),
            0);
  std::ifstream file{path};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), "printed text\n");
}

TEST(SupervisedCommand, has_no_descriptor_of_its_launchers) {
  EXPECT_EQ(tests::in_child([] {
              const auto next_two = [] {
                const std::array<int, 2> next{::dup(STDERR_FILENO), ::dup(STDERR_FILENO)};
                ::close(next[0]);
                ::close(next[1]);
                return next;
              };
              const auto next = next_two();
              const auto is_closed = "test ! -e /proc/self/fd/" + std::to_string(next[0]) +
                                     " && test ! -e /proc/self/fd/" + std::to_string(next[1]);
              if (run_supervised({"sh", "-c", is_closed}).status != 0) {
                return 1;
              }
              return next_two() == next ? 0 : 2;
            }),
            0);
}

} // namespace
} // namespace gputest::platform
