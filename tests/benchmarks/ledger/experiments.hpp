// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "table.hpp"

#include <string>
#include <vector>

namespace gputest::benchmarks {

/// Acquire and release where nobody else wants it.
[[nodiscard]] Table measure_alone(const std::string& folder, int repeats);

/// Acquire and release of a lease, beside so many living processes that hold another.
[[nodiscard]] Table measure_growth(const std::string& folder, int repeats);

/// From the release in one process to acquired in another that was blocked.
[[nodiscard]] Table measure_hand_over(const std::string& folder, int repeats);

/// From the SIGKILL of the holder to acquired in another that was blocked.
[[nodiscard]] Table measure_take_over(const std::string& folder, int repeats);

/// Throughput and worst wait of crowds that acquire, hold for a moment and release.
[[nodiscard]] std::vector<Table> measure_crowds(const std::string& folder, int repeats);

/// How long processes hold the ledger's mutex, while nobody starts and while 16 processes create contexts, on the
/// machine's GPUs or, where there are none, on simulated devices.
[[nodiscard]] Table measure_mutex(const std::string& folder, int repeats);

/// NVML calls of all processes together for one grant, on the same devices.
[[nodiscard]] Table measure_nvml_calls(const std::string& folder, int repeats);

} // namespace gputest::benchmarks
