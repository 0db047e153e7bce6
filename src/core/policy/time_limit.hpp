// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace gputest::policy {

/// How long the command of an entry may run.
struct TimeLimit {
  std::chrono::milliseconds duration{};
  std::string text; ///< `2.5 s`, as it was written
};

/// Reads seconds, such as 90 or 2.5, up to 999999999, as gpu_add_test() takes TIMEOUT. nullopt if it is not that.
[[nodiscard]] std::optional<TimeLimit> parse_time_limit(const std::string& text);

/// What a run was doing when its time was over.
struct TimedOut {
  std::string entry;
  std::string running;                ///< the test; may be empty
  std::chrono::nanoseconds waited{0}; ///< for GPUs
  std::string left_behind;            ///< processes that hold the output of a command that has ended; empty: it runs
};

/// `timed out: …`, the reason that a user reads.
[[nodiscard]] std::string text_of_time_out(const TimedOut& run, const TimeLimit& limit);

} // namespace gputest::policy
