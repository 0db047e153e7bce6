// SPDX-License-Identifier: BSD-3-Clause
// A suite with functions of its own in place of the C library's, as a test of a program that takes time has them: hours
// pass from one look at the clock to the next, and no sleep lasts.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>

extern "C" {

int clock_gettime(clockid_t /*clock*/, timespec* now) noexcept {
  static std::atomic<time_t> seconds{0};
  *now = {seconds += 3600, 0};
  return 0;
}

int clock_nanosleep(clockid_t /*clock*/, int /*flags*/, const timespec* /*time*/, timespec* /*left*/) { return 0; }

int nanosleep(const timespec* /*time*/, timespec* /*left*/) { return 0; }

struct pollfd;
int poll(pollfd* /*files*/, unsigned long /*count*/, int /*timeout*/) { return 0; }
}

namespace {

using namespace gputest::literals;

GPUTEST_NEEDS(OwnFunctions, with_bytes, 2_GiB);
TEST(OwnFunctions, with_bytes) {}

} // namespace
