// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/descendants.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace gputest::supervise {
namespace {

/// A later signal does not change what has killed a process: it shows whether the process had been killed before.
int killed_by(pid_t process) {
  ::kill(process, SIGTERM);
  return -tests::end_of(process);
}

/// A child with a child of its own, and both their pids.
struct ChildAndGrandchild {
  pid_t child = 0;
  pid_t grandchild = 0;

  ChildAndGrandchild() {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) {
      throw std::runtime_error{"pipe"};
    }
    child = tests::start_keeper([&] {
      ::prctl(PR_SET_NAME, "a) b"); // of which the kernel tells nothing apart
      const pid_t own = tests::start_keeper([] { return 0; });
      return ::write(pipe[1], &own, sizeof own);
    });
    if (::read(pipe[0], &grandchild, sizeof grandchild) != sizeof grandchild) {
      throw std::runtime_error{"read"};
    }
  }

  /// How both have ended. A grandchild becomes this process's own child when its parent has ended.
  [[nodiscard]] std::array<int, 2> ends() const { return {killed_by(child), killed_by(grandchild)}; }
};

/// The next two that a file would get.
std::array<int, 2> free_descriptors() {
  const std::array<int, 2> next{::dup(STDERR_FILENO), ::dup(STDERR_FILENO)};
  ::close(next[0]);
  ::close(next[1]);
  return next;
}

TEST(Descendants, are_all_ended_but_those_spared_and_what_these_have_started) {
  EXPECT_EQ(tests::in_child([] {
              const ChildAndGrandchild first_spared;
              const ChildAndGrandchild not_spared;
              const ChildAndGrandchild second_spared;
              const std::array<pid_t, 2> spared{first_spared.child, second_spared.child};
              const auto free_ones = free_descriptors();
              end_descendants({spared.begin(), spared.end()});
              EXPECT_EQ(free_descriptors(), free_ones) << "it has closed what it has opened";
              const std::array<int, 2> went_on{SIGTERM, SIGTERM};
              EXPECT_EQ(first_spared.ends(), went_on);
              EXPECT_EQ(not_spared.ends(), (std::array<int, 2>{SIGKILL, SIGKILL}));
              EXPECT_EQ(second_spared.ends(), went_on);
              return ::testing::Test::HasFailure() ? 1 : 0;
            }),
            0);
}

TEST(Descendants, are_left_running_where_each_goes_on_in_a_child_faster_than_it_is_found) {
  EXPECT_EQ(tests::in_child([] {
              std::array<int, 2> until{};
              std::array<int, 2> begun{};
              if (::pipe(until.data()) != 0 || ::pipe(begun.data()) != 0) {
                return 1;
              }
              ::prctl(PR_SET_CHILD_SUBREAPER, 1);
              tests::start_child([&] {
                char byte = 0;
                ::close(until[1]);
                ::fcntl(until[0], F_SETFL, O_NONBLOCK);
                for (int number = 0; ::read(until[0], &byte, 1) != 0; ++number) { // until the caller has ended
                  if (::fork() > 0) {
                    ::_exit(0);
                  }
                  static_cast<void>(number == 100 && ::write(begun[1], "+", 1) > 0);
                }
                return 0;
              });
              char byte = 0;
              if (::read(begun[0], &byte, 1) != 1) {
                return 2;
              }
              end_descendants();
              return 0;
            }),
            0);
}

} // namespace
} // namespace gputest::supervise
