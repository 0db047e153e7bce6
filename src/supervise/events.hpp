// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace gputest::supervise {

/// What poll() waits for. A descriptor that is none is never ready.
class Events {
public:
  Events& add(const os::Descriptor& descriptor, short events = POLLIN) {
    polled_.push_back({descriptor.number(), events, 0});
    return *this;
  }

  /// False after the time, for which a negative one never comes. Blocks until something is ready.
  bool wait(std::chrono::milliseconds limit) {
    int ready = 0;
    do {
      constexpr std::chrono::milliseconds::rep most = std::numeric_limits<int>::max();
      ready = ::poll(polled_.data(), polled_.size(), static_cast<int>(std::min(limit.count(), most)));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  }

  /// Whether that which was added as number `index` is readable, or its other side is gone.
  [[nodiscard]] bool is_ready(std::size_t index) const { return polled_.at(index).revents != 0; }

private:
  std::vector<pollfd> polled_;
};

inline constexpr std::chrono::milliseconds for_ever{-1};

[[nodiscard]] inline bool is_ready(const os::Descriptor& descriptor) {
  return Events{}.add(descriptor).wait(std::chrono::milliseconds{0});
}

/// Becomes readable when the process has ended; none if there is no such process.
[[nodiscard]] inline os::Descriptor open_pidfd(pid_t pid) {
  return os::Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

} // namespace gputest::supervise
