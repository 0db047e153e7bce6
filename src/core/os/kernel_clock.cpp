// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/kernel_clock.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gputest::os {

namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

timespec to_timespec(nanoseconds time) {
  const auto whole = std::chrono::duration_cast<seconds>(time);
  return {static_cast<time_t>(whole.count()), static_cast<long>((time - whole).count())};
}

nanoseconds to_duration(const timespec& time) { return seconds{time.tv_sec} + nanoseconds{time.tv_nsec}; }

/// The kernel writes what is left into `limit`. Ends a cancelled thread as poll() does. It has nothing to clean up, and
/// is not inlined: where something has, a thread that is cancelled in the middle of it ends the process.
[[gnu::noinline]] long poll_or_be_cancelled(pollfd* files, std::size_t count, timespec* limit) {
  int type = PTHREAD_CANCEL_DEFERRED;
  ::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type); // NOLINT(cert-pos47-c)
  const long ready = ::syscall(SYS_ppoll, files, count, limit, nullptr, 0);
  ::pthread_setcanceltype(type, nullptr);
  return ready;
}

} // namespace

KernelClock::time_point KernelClock::now() noexcept {
  timespec time{};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return time_point{to_duration(time)};
}

void KernelClock::sleep_for(duration time) noexcept {
  timespec left = to_timespec(time);
  while (::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, &left) != 0 && errno == EINTR) {
  }
}

int KernelClock::poll(pollfd* files, std::size_t count, duration& at_most) {
  if (at_most == duration::max()) {
    return static_cast<int>(poll_or_be_cancelled(files, count, nullptr));
  }
  timespec left = to_timespec(std::max(at_most, duration::zero()));
  const long ready = poll_or_be_cancelled(files, count, &left);
  at_most = to_duration(left);
  return static_cast<int>(ready);
}

} // namespace gputest::os
