// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

#include <poll.h>

namespace gputest::os {

/// The kernel's clock, asked without the C library, in front of which libraries stand that show tests another time. Two
/// processes may be in time namespaces with different clocks.
struct KernelClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<KernelClock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;

  /// A process that wakes up so late from a sleep was stopped (SIGSTOP, Ctrl-Z), and not only kept waiting by others
  /// for a processor.
  static constexpr std::chrono::milliseconds late_if_stopped{500};

  /// Goes on sleeping after signals.
  static void sleep_for(duration time) noexcept;

  /// As poll(), also for pthread_cancel(); `at_most` max(): for ever. Leaves there what it has not slept. The time in
  /// which the process was stopped is no sleep.
  static int poll(pollfd* files, std::size_t count, duration& at_most);
};

} // namespace gputest::os
