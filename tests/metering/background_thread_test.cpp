// SPDX-License-Identifier: BSD-3-Clause
#include "metering/background_thread.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <system_error>

namespace gputest::metering {
namespace {

sigset_t blocked_here() {
  sigset_t blocked{};
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return blocked;
}

bool blocks(int signal) {
  const sigset_t blocked = blocked_here();
  return ::sigismember(&blocked, signal) == 1;
}

/// Blocks nothing but SIGUSR2.
void block_one_signal() {
  sigset_t one{};
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGUSR2);
  ::pthread_sigmask(SIG_SETMASK, &one, nullptr);
}

bool blocks_that_one_only() { return blocks(SIGUSR2) && !blocks(SIGUSR1) && !blocks(SIGTERM); }

TEST(BackgroundThread, gets_no_signal_and_leaves_its_creators_as_they_were) {
  const sigset_t before = blocked_here();
  block_one_signal();
  bool thread_blocks_all = false;
  std::thread thread =
      start_background_thread([&] { thread_blocks_all = blocks(SIGTERM) && blocks(SIGUSR1) && blocks(SIGUSR2); });
  EXPECT_TRUE(blocks_that_one_only());
  thread.join();
  EXPECT_TRUE(thread_blocks_all);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace
} // namespace gputest::metering
