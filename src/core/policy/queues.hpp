// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/claims.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace gputest::policy {

// Two queues, entering and leasing. A claim whose process is stopped keeps its place, but nobody waits for its turn.

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

} // namespace gputest::policy
