// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contestant.hpp"

#include "core/ledger/record.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gputest::benchmarks {

/// All that the benchmark's device has: a lease of it keeps everybody else out.
constexpr std::uint64_t whole_device = std::uint64_t{1} << 34U;

/// A ledger with one device that shows the memory of the dead to be back at once: what is measured is the ledger.
void make_ledger(const std::string& place);

/// How a process uses a ledger.
struct LedgerUse {
  std::shared_ptr<const ledger::DeviceProbe> probe;
  std::string uuid;                 ///< of the device
  std::uint64_t bytes = 0;          ///< of each lease
  std::uint64_t overhead_bytes = 0; ///< of the process itself
  /// Does not wait for a lease in the ledger, but asks again after so long.
  std::optional<std::chrono::milliseconds> asks_every;
};

/// Enters the ledger; the lock is a lease.
[[nodiscard]] std::unique_ptr<Lock> open_ledger(const std::string& place, const LedgerUse& use);

/// The same on make_ledger()'s device, with a lease of `bytes`.
[[nodiscard]] std::unique_ptr<Lock> open_ledger(const std::string& place, std::uint64_t bytes);

} // namespace gputest::benchmarks
