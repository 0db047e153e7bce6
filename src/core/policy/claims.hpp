// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputest::policy {

/// Bytes added up. What claims say may be anything, so the sum stops at the largest number.
[[nodiscard]] constexpr std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/// A set of devices by their index in the ledger's device table: bit i is device i.
using DeviceMask = std::uint64_t;

/// Where a process stands with the ledger.
enum class Stage : std::uint32_t {
  outside = 0, ///< not on the ledger
  entering,    ///< waits for a device that has room for one more process
  inside,      ///< its context is counted; it holds no lease
  waiting,     ///< inside, and waits for the memory of a test
  holding,     ///< inside, and holds the memory of a test
  idle,        ///< inside, waits for work without a lease, and leaves when notified
};

/// One process's claim, as the decision sees it. Bytes are per device.
struct Claim {
  Stage stage = Stage::outside;
  std::uint64_t ticket = 0;         ///< order of arrival of what it waits for or holds; smaller is earlier
  DeviceMask candidates = 0;        ///< entering: where it may be placed
  unsigned gpus = 1;                ///< entering: how many of them it needs
  std::uint64_t overhead_bytes = 0; ///< what the process takes by itself, context and leaks, on each of its devices
  std::uint64_t largest_bytes = 0;  ///< the largest lease it may ever wait for
  bool whole_devices = false;       ///< it may wait for a whole device: nobody else may be inside with it
  DeviceMask devices = 0;           ///< inside and later: its devices
  DeviceMask wanted = 0;            ///< waiting, holding: the devices of the lease, a subset of `devices`
  std::uint64_t lease_bytes = 0;    ///< waiting, holding
  bool exclusive = false;           ///< waiting, holding: the whole device, nobody else inside it
  bool medium_lock = false;         ///< waiting, holding: the device's one medium lock
  std::uint64_t behind = 0;         ///< entering, waiting: see Wait::behind
  /// Its process is stopped; never stored. Entering, waiting: it gives up its turn. Idle: it does not leave.
  bool stopped = false;
  DeviceMask preferred = 0; ///< entering: candidates that it gets if its largest lease has room there; never stored
};

/// The devices that a claim asks for: where it may be placed, or those of the lease it waits for; none if it asks
/// nothing.
[[nodiscard]] constexpr DeviceMask asked_devices(const Claim& claim) {
  return claim.stage == Stage::entering ? claim.candidates : claim.stage == Stage::waiting ? claim.wanted : 0;
}

/// Whether its context is counted.
[[nodiscard]] constexpr bool is_inside(const Claim& claim) {
  return claim.stage >= Stage::inside && claim.stage <= Stage::idle;
}

/// Whether it is inside on `device`.
[[nodiscard]] constexpr bool is_on(const Claim& claim, std::size_t device) {
  return is_inside(claim) && (claim.devices >> device & 1U) != 0;
}

/// Whether its process ends as soon as it is notified.
[[nodiscard]] constexpr bool leaves_when_notified(const Claim& claim) {
  return claim.stage == Stage::idle && !claim.stopped;
}

/// One device, as the decision sees it.
struct Capacity {
  std::uint64_t total_bytes = 0;    ///< what it could ever give: its memory less what the driver reserves
  std::uint64_t external_bytes = 0; ///< what processes that are not on the ledger hold of it now
  bool one_process = false;         ///< at most one process may be on it (compute mode EXCLUSIVE_PROCESS)
};

/// One look at the whole ledger.
struct Snapshot {
  std::vector<Capacity> devices; ///< by index in the device table
  std::vector<Claim> claims;     ///< of everybody on the ledger; a claim's position is its name in decisions
};

} // namespace gputest::policy
