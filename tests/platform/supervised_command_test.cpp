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

} // namespace
} // namespace gputest::platform
