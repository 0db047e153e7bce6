// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contestant.hpp"
#include "table.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gputest::benchmarks {

/// A lock whose acquire and release one process measures alone.
struct LatencyCase {
  std::string name;
  std::function<std::unique_ptr<Lock>()> open;
};

/// Nanoseconds of an acquire and release of each, `repeats` times and in a random order, in a process of its own.
[[nodiscard]] std::vector<Row> measure_latencies(const std::vector<LatencyCase>& cases, int repeats);

} // namespace gputest::benchmarks
