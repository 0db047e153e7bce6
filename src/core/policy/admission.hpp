// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/claims.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace gputest::policy {

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

/// Decides about the claim at `position`, which is `entering` or `waiting`. Pure: the same snapshot gives the same
/// answer.
///
/// A process enters only if the overheads of all inside, with the largest lease that any of them may wait for, fit:
/// somebody can always finish, so waiting cannot become a deadlock. Processes enter in the order of arrival. Leases are
/// granted in the order of arrival, except that a later request may pass those ahead that it delays in no case
/// (`queues.hpp`). Places of stopped processes do not count. An idle process counts like any other inside, until
/// it has left (`leaving.hpp`).
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
