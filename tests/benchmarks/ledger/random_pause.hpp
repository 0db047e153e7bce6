// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <random>
#include <thread>

namespace gputest::benchmarks {

/// Sleeps for up to 50 ms, as long as the poller sleeps: what ends a wait then comes at any point of its sleep. Also
/// leaves whoever began to block time to settle.
inline void random_pause() {
  static std::minstd_rand random{1}; // the same pauses in each run
  std::this_thread::sleep_for(std::chrono::microseconds{std::uniform_int_distribution{0, 50'000}(random)});
}

} // namespace gputest::benchmarks
