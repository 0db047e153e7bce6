// SPDX-License-Identifier: BSD-3-Clause
#include "platform/supervised_command.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <csignal>

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

} // namespace
} // namespace gputest::platform
