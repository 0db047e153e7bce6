// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/admission.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace gputest::policy {

// Two queues, entering and leasing. A claim whose process is stopped, or which external processes keep from entering,
// keeps its place, but nobody waits for its turn.

/// The claim that arrived last of those that are ahead on `device` in the same queue; none if nobody is.
///
/// Whatever is ahead of that one is in its way too, and so need not be watched by others.
[[nodiscard]] std::optional<std::size_t> next_ahead(const Snapshot& snapshot, std::size_t self, std::size_t device);

/// Of the claims ahead of the waiting claim `self`, the last one beside which it can never have its lease: together the
/// two are larger than a device, or want the same medium lock, or the one ahead wants the whole device. None if there
/// is no such claim.
///
/// It depends on these two claims alone. As long as the one ahead waits, `self` need look at nothing else.
[[nodiscard]] std::optional<std::size_t> nearest_excluder(const Snapshot& snapshot, std::size_t self);

/// Positions of the claims that have to look again when something that is claimed has changed: those that are behind
/// nobody, and those that are behind the claim with the ticket `granted` (0: none), which was granted its lease just
/// now. All others watch one that still waits, and nothing else.
[[nodiscard]] std::vector<std::size_t> concerned(const std::vector<Claim>& claims, std::uint64_t granted = 0);

/// The first of the claims waiting for a lease on `device` that what the claim at `self` asks for there could delay, if
/// it were granted now; none if it delays nobody. Claims that arrived after `self`, and those of stopped processes, may
/// be delayed.
///
/// A claim is never delayed if it has room beside all leases whenever it would have room beside those of earlier
/// arrivals alone. Earlier arrivals may give back their leases, and processes may end, in any order: `self` must fit
/// beside the claim in each such state in which the claim would be granted without later arrivals. Pure. Sums are
/// rounded so that `self` rather waits: by a 4096th of a device for each process on it at most.
[[nodiscard]] std::optional<std::size_t> delayed_by(const Snapshot& snapshot, std::size_t self, std::size_t device);

/// The snapshot in which the claim at `position`, which holds a lease of `held_bytes`, asks for the rest of its
/// `lease_bytes`: as a request that arrived last, of a process whose context is larger by the held lease. Claims that
/// do not fit beside the held lease wait for its release in any case, so growth does not delay them: nobody waits for
/// their turns. Pure.
[[nodiscard]] Snapshot with_growing(Snapshot snapshot, std::size_t position, std::uint64_t held_bytes);

// Idle processes leave when they are notified. Until one has left it counts like any other process inside, so nobody is
// granted what it has. Whoever is kept out notifies those that have to leave; one that was notified never takes work
// again.

/// The idle processes that have to leave for a claim that waits.
struct Leaving {
  std::vector<std::size_t> positions;
  bool enough = false; ///< whether the claim is granted as soon as they have left
};

/// Of the blockers of the claim at `position`, which was answered `wait`: the fewest idle ones that make room for it.
/// If all of them do not, all of them, so that none takes work before the claim's turn has come. Those stay that have
/// worked last: ctest runs the cases of one executable one after another, so the others are rather done. Pure.
[[nodiscard]] Leaving idle_to_evict(const Snapshot& snapshot, std::size_t position, const Wait& wait);

/// The fewest idle processes that have to leave so that may_raise() holds, mostly none; nullopt if it does not hold
/// without all of them. They have to be notified before the claim is raised. Pure.
[[nodiscard]] std::optional<std::vector<std::size_t>> idle_to_evict_for(const Snapshot& snapshot, std::size_t position,
                                                                        std::uint64_t bytes);

/// Whether the idle process at `position` has to leave rather than take work: it is in the way of a claim that is
/// behind nobody, and the other idle processes are not. Pure.
[[nodiscard]] bool is_in_the_way(const Snapshot& snapshot, std::size_t position);

} // namespace gputest::policy
