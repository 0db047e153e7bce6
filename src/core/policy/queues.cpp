// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/queues.hpp"

#include <algorithm>

namespace gputest::policy {

namespace {

/// Whether the claim at `other` takes precedence over the one at `self` in the same queue.
bool is_ahead(const Claim& other, const Claim& self) {
  return other.stage == self.stage && other.ticket < self.ticket && !other.stopped;
}

/// Whether the two cannot hold their leases at the same time, whatever becomes of everybody else.
bool exclude_each_other(const Snapshot& snapshot, const Claim& ahead, const Claim& self) {
  const DeviceMask shared = ahead.wanted & self.wanted;
  if (shared == 0 || ahead.exclusive || (ahead.medium_lock && self.medium_lock)) {
    return shared != 0;
  }
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    // By subtraction: a damaged record may hold figures whose sum would wrap.
    std::uint64_t left = snapshot.devices[d].total_bytes;
    for (const std::uint64_t bytes : {ahead.overhead_bytes, ahead.lease_bytes, self.overhead_bytes, self.lease_bytes}) {
      if ((shared >> d & 1U) != 0 && bytes > left) {
        return true;
      }
      left -= std::min(left, bytes);
    }
  }
  return false;
}

} // namespace

std::optional<std::size_t> next_ahead(const Snapshot& snapshot, std::size_t self, std::size_t device) {
  std::optional<std::size_t> next;
  const Claim& own = snapshot.claims[self];
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const Claim& claim = snapshot.claims[position];
    if (is_ahead(claim, own) && (asked_devices(claim) >> device & 1U) != 0 &&
        (!next || claim.ticket > snapshot.claims[*next].ticket)) {
      next = position;
    }
  }
  return next;
}

std::optional<std::size_t> nearest_excluder(const Snapshot& snapshot, std::size_t self) {
  std::optional<std::size_t> nearest;
  const Claim& own = snapshot.claims[self];
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const Claim& claim = snapshot.claims[position];
    if (is_ahead(claim, own) && (!nearest || claim.ticket > snapshot.claims[*nearest].ticket) &&
        exclude_each_other(snapshot, claim, own)) {
      nearest = position;
    }
  }
  return nearest;
}

std::vector<std::size_t> concerned(const std::vector<Claim>& claims, std::uint64_t granted) {
  std::vector<std::size_t> positions;
  for (std::size_t position = 0; position < claims.size(); ++position) {
    const Claim& claim = claims[position];
    const bool follows = claim.stage == Stage::waiting && granted != 0 && claim.behind == granted;
    if (asked_devices(claim) != 0 && (claim.behind == 0 || follows)) {
      positions.push_back(position);
    }
  }
  return positions;
}

} // namespace gputest::policy
