#pragma once

#include "contestant.hpp"

#include <cstdint>

namespace gputest::benchmarks {

/// All that the benchmark's device has: a lease of it keeps everybody else out.
constexpr std::uint64_t whole_device = std::uint64_t{1} << 34U;

/// A ledger with one device that shows the memory of the dead to be back at once: what is measured is the ledger.
void make_ledger(const std::string& place);

/// Enters the ledger; the lock is a lease of `bytes`.
[[nodiscard]] std::unique_ptr<Lock> open_ledger(const std::string& place, std::uint64_t bytes);

} // namespace gputest::benchmarks
