// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/admission.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace gputest::policy {

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
[[nodiscard]] Leaving who_has_to_leave(const Snapshot& snapshot, std::size_t position, const Wait& wait);

/// The fewest idle processes that have to leave so that may_raise() holds, mostly none; nullopt if it does not hold
/// without all of them. They have to be notified before the claim is raised. Pure.
[[nodiscard]] std::optional<std::vector<std::size_t>> who_has_to_leave_for(const Snapshot& snapshot,
                                                                           std::size_t position, std::uint64_t bytes);

/// Whether the idle process at `position` has to leave rather than take work: it is in the way of a claim that is
/// behind nobody, and the other idle processes are not. Pure.
[[nodiscard]] bool is_in_the_way(const Snapshot& snapshot, std::size_t position);

} // namespace gputest::policy
