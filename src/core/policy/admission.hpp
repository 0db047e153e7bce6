// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
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
  bool whole_devices = false;       ///< it may wait for an exclusive lease: nobody else may be inside with it
  DeviceMask devices = 0;           ///< inside and later: its devices
  DeviceMask wanted = 0;            ///< waiting, holding: the devices of the lease, a subset of `devices`
  std::uint64_t lease_bytes = 0;    ///< waiting, holding
  bool exclusive = false;           ///< waiting, holding: nobody else inside; with 0 bytes the whole device
  bool medium_lock = false;         ///< waiting, holding: the device's one medium lock
  bool estimated = false;           ///< nobody has declared what it takes; decides nothing
  std::uint64_t behind = 0;         ///< entering, waiting: see Wait::behind
  /// Its process is stopped; never stored. Entering, waiting: it gives up its turn. Idle: it does not leave.
  bool stopped = false;
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
  int most_processes = 0;           ///< that may be on it at once; 0: as many as fit
};

/// One look at the whole ledger.
struct Snapshot {
  std::vector<Capacity> devices; ///< by index in the device table
  std::vector<Claim> claims;     ///< of everybody on the ledger; a claim's position is its name in decisions
  /// Whether no process on the ledger can have given back, after the devices were asked, what `external_bytes` have.
  bool external_is_certain = false;
};

/// It may go ahead, on these devices.
struct Grant {
  DeviceMask devices = 0;
};

/// Not now. It has to be asked again when one of `blockers` changes, or, if `external`, when other programs
/// free memory.
struct Wait {
  /// Positions of the claims in its way: whatever becomes of all others, it has to wait while these stay. To enter: the
  /// next ahead on each device, or everybody inside. For a lease: the last one ahead that it cannot run beside; else
  /// who has the medium lock, or who holds leases; or, where these alone would not keep it out, or where it would delay
  /// another, everybody inside.
  std::vector<std::size_t> blockers;
  bool external = false; ///< memory of processes that are not on the ledger stands in its way too
  /// Not 0 if it has to wait for claims ahead of it in its queue, whatever becomes of all others. For a lease: the
  /// ticket of the one in `blockers`. It has to look again only when that one goes; see concerned().
  std::uint64_t behind = 0;
};

/// Never: no device it may use can ever hold it, however long it waits.
struct Refusal {
  std::uint64_t asked_bytes = 0; ///< lease and overhead
  std::uint64_t largest_device_bytes = 0;
  unsigned asked_gpus = 0;
  unsigned gpus = 0; ///< candidates
};

using Decision = std::variant<Grant, Wait, Refusal>;

/// Whether external processes alone leave no room on a device for the claim, which waits to enter it. Pure.
[[nodiscard]] bool is_kept_out_by_external(const Claim& claim, const Capacity& device);

/// Decides about the claim at `position`, which is `entering` or `waiting`. Pure: the same snapshot gives the same
/// answer.
///
/// A process enters only if the overheads of all inside, with the largest lease that any of them may wait for, fit:
/// somebody can always finish, so waiting cannot become a deadlock. Processes enter in the order of arrival, but for
/// those that external processes keep out: nobody waits for their turns. Leases are granted in the order of arrival,
/// except that a later request may pass those ahead that it delays in no case (`queues.hpp`). Places of stopped
/// processes do not count. An idle process counts like any other inside, until it has left (`queues.hpp`).
[[nodiscard]] Decision decide(const Snapshot& snapshot, std::size_t position);

/// Whether the process at `position` may wait for a lease of `bytes`, more than it announced, without risk of a
/// deadlock.
[[nodiscard]] bool may_raise(const Snapshot& snapshot, std::size_t position, std::uint64_t bytes);

/// Whether everybody inside `devices` waits for a lease on them, or leaves when notified: then nobody there will free
/// anything by itself.
[[nodiscard]] bool everybody_waits(const Snapshot& snapshot, DeviceMask devices);

/// Whether the waiting claim at `position` can never be granted although it is first in its queue: contexts have grown
/// since their processes entered, so that those that stay leave no room for its lease, and everybody waits.
[[nodiscard]] bool is_stuck(const Snapshot& snapshot, std::size_t position);

} // namespace gputest::policy
