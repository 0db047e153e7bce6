// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/claims.hpp"

#include <cstddef>
#include <optional>

namespace gputest::policy {

/// The first of the claims waiting for a lease on `device` that what the claim at `self` asks for there could delay, if
/// it were granted now; none if it delays nobody. Claims that arrived after `self`, and those of stopped processes, may
/// be delayed.
///
/// A claim is never delayed if it has room beside all leases whenever it would have room beside those of earlier
/// arrivals alone. Earlier arrivals may give back their leases, and processes may end, in any order: `self` must fit
/// beside the claim in each such state in which the claim would be granted without later arrivals. Pure. Sums are
/// rounded so that `self` rather waits: by a 4096th of a device for each process on it at most.
[[nodiscard]] std::optional<std::size_t> delayed_by(const Snapshot& snapshot, std::size_t self, std::size_t device);

} // namespace gputest::policy
