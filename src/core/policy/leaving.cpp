// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/leaving.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gputest::policy {

namespace {

/// Those of `positions` that leave when they are notified, the one that has asked for a lease last first.
std::vector<std::size_t> idle_among(const Snapshot& snapshot, const std::vector<std::size_t>& positions) {
  std::vector<std::size_t> idle;
  std::copy_if(positions.begin(), positions.end(), std::back_inserter(idle),
               [&](std::size_t position) { return leaves_when_notified(snapshot.claims[position]); });
  std::stable_sort(idle.begin(), idle.end(), [&](std::size_t left, std::size_t right) {
    return snapshot.claims[left].ticket > snapshot.claims[right].ticket;
  });
  return idle;
}

void take_out(Snapshot& snapshot, const std::vector<std::size_t>& idle) {
  for (const std::size_t position : idle) {
    snapshot.claims[position].stage = Stage::outside;
  }
}

auto is_granted(std::size_t position) {
  return [position](const Snapshot& snapshot) { return std::holds_alternative<Grant>(decide(snapshot, position)); };
}

/// Of the idle processes `idle`, the fewest without which `holds` is true of the snapshot; nullopt if it is not even
/// true without all of them.
template <class Holds>
std::optional<std::vector<std::size_t>> fewest(Snapshot snapshot, const std::vector<std::size_t>& idle, Holds holds) {
  take_out(snapshot, idle);
  if (!holds(snapshot)) {
    return std::nullopt;
  }
  std::vector<std::size_t> to_leave;
  for (const std::size_t position : idle) {
    snapshot.claims[position].stage = Stage::idle;
    if (!holds(snapshot)) {
      snapshot.claims[position].stage = Stage::outside;
      to_leave.push_back(position);
    }
  }
  return to_leave;
}

} // namespace

Leaving who_has_to_leave(const Snapshot& snapshot, std::size_t position, const Wait& wait) {
  Leaving leaving{idle_among(snapshot, wait.blockers), false};
  if (leaving.positions.empty()) {
    return leaving;
  }
  if (auto enough = fewest(snapshot, leaving.positions, is_granted(position))) {
    leaving = {std::move(*enough), true};
  }
  return leaving;
}

std::optional<std::vector<std::size_t>> who_has_to_leave_for(const Snapshot& snapshot, std::size_t position,
                                                             std::uint64_t bytes) {
  std::vector<std::size_t> idle;
  for (std::size_t other = 0; other < snapshot.claims.size(); ++other) {
    const Claim& claim = snapshot.claims[other];
    if (other != position && leaves_when_notified(claim) && (claim.devices & snapshot.claims[position].devices) != 0) {
      idle.push_back(other);
    }
  }
  return fewest(snapshot, idle, [&](const Snapshot& without) { return may_raise(without, position, bytes); });
}

bool is_in_the_way(const Snapshot& snapshot, std::size_t position) {
  Snapshot resumed = snapshot;
  resumed.claims[position].stage = Stage::inside;
  for (std::size_t other = 0; other < snapshot.claims.size(); ++other) {
    const Claim& claim = snapshot.claims[other];
    if (asked_devices(claim) == 0 || claim.behind != 0) {
      continue;
    }
    const Decision decision = decide(resumed, other);
    const auto* wait = std::get_if<Wait>(&decision);
    if (wait != nullptr && std::find(wait->blockers.begin(), wait->blockers.end(), position) != wait->blockers.end()) {
      Snapshot without = resumed;
      take_out(without, idle_among(resumed, wait->blockers));
      if (!is_granted(other)(without)) {
        return true;
      }
    }
  }
  return false;
}

} // namespace gputest::policy
