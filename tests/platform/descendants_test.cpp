// SPDX-License-Identifier: BSD-3-Clause
#include "platform/descendants.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

namespace gputest::platform {
namespace {

/// A later signal does not change what has killed a process: it shows whether the process had been killed before.
int killed_by(pid_t process) {
  ::kill(process, SIGTERM);
  return -tests::end_of(process);
}

TEST(Descendants, are_ended_whatever_their_names_are) {
  const auto end_of_both = [] {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) {
      return 2;
    }
    const pid_t child = tests::start_keeper([&] {
      ::prctl(PR_SET_NAME, "a) b");
      const pid_t grandchild = tests::start_keeper([] { return 0; });
      return ::write(pipe[1], &grandchild, sizeof grandchild);
    });
    pid_t grandchild = 0;
    if (::read(pipe[0], &grandchild, sizeof grandchild) != sizeof grandchild) {
      return 3;
    }
    end_descendants();
    const bool child_is_killed = killed_by(child) == SIGKILL;
    const bool grandchild_is_killed = killed_by(grandchild) == SIGKILL; // it has become this process's own child
    return child_is_killed && grandchild_is_killed ? 0 : 1;
  };
  EXPECT_EQ(tests::in_child(end_of_both), 0);
}

} // namespace
} // namespace gputest::platform
