// SPDX-License-Identifier: BSD-3-Clause
#include "workers/wait_status.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace gputest::workers {
namespace {

TEST(EndOfAProcess, is_told_and_imitated) {
  const auto status_of = [](const auto& end) {
    int status = 0;
    ::waitpid(tests::start_child(end), &status, 0);
    return status;
  };
  const int failed = status_of([] { return 3; });
  const int killed = status_of([] { return ::raise(SIGKILL); });
  const int terminated = status_of([] { return ::raise(SIGTERM); });
  EXPECT_EQ(describe_end(failed), "with the exit code 3");
  EXPECT_EQ(describe_end(killed), "by the signal Killed");
  EXPECT_EQ(end_as(failed), 3);
  for (const auto change : {SIG_DFL, SIG_IGN}) {
    const int status = status_of([&] { // which has to end, whatever it has inherited
      std::signal(SIGTERM, change);
      sigset_t all{};
      ::sigfillset(&all);
      ::sigprocmask(SIG_BLOCK, &all, nullptr);
      return end_as(terminated);
    });
    EXPECT_EQ(describe_end(status), "by the signal Terminated");
  }
}

} // namespace
} // namespace gputest::workers
