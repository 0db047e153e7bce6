// SPDX-License-Identifier: BSD-3-Clause
// Tests that come to no end, and one that leases what start_holder() holds.
#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <cstdlib>

#include <unistd.h>

using namespace gputest::literals;

namespace {

[[noreturn]] void hang() {
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

TEST(Waits, for_most_of_the_device) { EXPECT_EQ(std::getenv("GPUTEST_TIMEOUT"), nullptr); }
GPUTEST_NEEDS(Waits, for_most_of_the_device, 3_GiB);
