// SPDX-License-Identifier: BSD-3-Clause
#include "workers/process_end.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace gputest::workers {
namespace {

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
} // namespace gputest::workers
