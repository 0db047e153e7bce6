// SPDX-License-Identifier: BSD-3-Clause
// Tests that come to no end, and one that leases what start_holder() holds.
#include "platform/time_limit.hpp"

#include <gputest/gputest.hpp>

#include <chrono>
#include <cstdlib>

#include <unistd.h>

using namespace gputest::literals;

using gputest::platform::time_left;

namespace {

std::chrono::steady_clock::time_point began;
std::chrono::nanoseconds left{0};

/// Says so first.
[[noreturn]] void hang() {
  static_cast<void>(!::write(STDOUT_FILENO, "hangs\n", 6));
  for (;;) {
    ::pause();
  }
}

} // namespace

TEST(Hangs, for_ever) { hang(); }
GPUTEST_NEEDS(Hangs, for_ever, small);

TEST(Hangs, without_a_gpu) { hang(); }
GPUTEST_NEEDS(Hangs, without_a_gpu, no_gpu);

TEST(Hangs, in_a_death_test) { EXPECT_DEATH(hang(), ""); }
GPUTEST_NEEDS(Hangs, in_a_death_test, small);

TEST(Hangs, first_leases) {}
GPUTEST_NEEDS(Hangs, first_leases, small);
TEST(Hangs, in_the_second) { hang(); }
GPUTEST_NEEDS(Hangs, in_the_second, small);

// What the time limit counts between these two is at least half a second less than what passes: the wait takes a
// second.
TEST(Waits, not_yet) {
  began = std::chrono::steady_clock::now();
  left = time_left().value();
}
GPUTEST_NEEDS(Waits, not_yet, no_gpu);

TEST(Waits, for_most_of_the_device) {
  EXPECT_EQ(std::getenv("GPUTEST_TIMEOUT"), nullptr);
  const auto counted = left - time_left().value();
  const auto passed = std::chrono::steady_clock::now() - began;
  EXPECT_GT(passed - counted, std::chrono::milliseconds{500});
}
GPUTEST_NEEDS(Waits, for_most_of_the_device, 3_GiB);
