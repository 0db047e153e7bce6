// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ctime>

#include <cstdint>

namespace gputest::benchmarks {

/// CLOCK_MONOTONIC in nanoseconds: the same clock in all processes.
inline std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

} // namespace gputest::benchmarks
