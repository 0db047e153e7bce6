// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::insights {

/// The sums of a run. Its tests are its entries.
struct RunSummary {
  std::size_t tests = 0;
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
  std::size_t running = 0;
  std::size_t unknown = 0;
  double wall = 0;
  bool open_ended = false; ///< it still runs, or a killed process wrote the last line: it takes longer than `wall`
  double waited = 0;       ///< by all tests together
  double leased = -1;      ///< of all memory, on average over time; -1: there is no device
  double measured = 0;     ///< the part of `leased` whose use was measured
  double used = -1;        ///< the same of the measured peaks; -1: nothing was measured
};
[[nodiscard]] RunSummary summarise(const RunLog& log);

/// What one test made others wait.
struct WaitCause {
  std::string name;
  double seconds = 0;
  std::size_t waits = 0;
};
/// Divides each logged wait among those that stood in its way; the largest first.
[[nodiscard]] std::vector<WaitCause> causes_of_waits(const RunLog& log);

/// Skipped tests whose reasons differ only in the test's name.
struct SkipGroup {
  std::string reason; ///< of the first test, with its name
  std::vector<std::string> tests;
};
/// Also tests that skip themselves. The largest group first.
[[nodiscard]] std::vector<SkipGroup> skips_of(const RunLog& log);

/// Sentences, the weightiest first.
[[nodiscard]] std::vector<std::string> what_held_it_back(const RunLog& log);

} // namespace gputest::insights
