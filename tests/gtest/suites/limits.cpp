// SPDX-License-Identifier: BSD-3-Clause
// Tests that come to no end, and one that leases what start_holder() holds.
#include <gputest/gputest.hpp>

#include <csignal>

#include <unistd.h>

using namespace gputest::literals;

namespace {

/// Says so first.
[[noreturn]] void hang() {
  static_cast<void>(!::write(STDOUT_FILENO, "hangs\n", 6));
  for (;;) {
    ::pause();
  }
}

} // namespace

TEST(Hangs, deaf) {
  sigset_t all{};
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  hang();
}
GPUTEST_NEEDS(Hangs, deaf, no_gpu);

TEST(Hangs, first_leases) {}
GPUTEST_NEEDS(Hangs, first_leases, small);
TEST(Hangs, in_the_second) { hang(); }
GPUTEST_NEEDS(Hangs, in_the_second, small);

TEST(Waits, for_most_of_the_device) {}
GPUTEST_NEEDS(Waits, for_most_of_the_device, 3_GiB);
