// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/queues.hpp"

#include <algorithm>
#include <bitset>
#include <iterator>
#include <utility>

namespace gputest::policy {

namespace {

/// Whether the claim at `other` takes precedence over the one at `self` in the same queue.
bool is_ahead(const Claim& other, const Claim& self) {
  return other.stage == self.stage && other.ticket < self.ticket && !other.stopped;
}

/// Whether it cannot enter the device before external processes have left some device: this one, or another that it
/// needs, too.
bool is_kept_out_by_external(const Snapshot& snapshot, const Claim& claim, std::size_t device) {
  DeviceMask open = claim.candidates; // also devices that the snapshot does not show
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    const bool is_shown = snapshot.devices[d].total_bytes > 0;
    if (is_shown && policy::is_kept_out_by_external(claim, snapshot.devices[d])) {
      open &= ~(DeviceMask{1} << d);
    }
  }
  return claim.stage == Stage::entering && snapshot.external_is_certain &&
         ((open >> device & 1U) == 0 || std::bitset<64>{open}.count() < claim.gpus);
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

std::optional<std::size_t> next_ahead(const Snapshot& snapshot, std::size_t self, std::size_t device) {
  std::optional<std::size_t> next;
  const Claim& own = snapshot.claims[self];
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const Claim& claim = snapshot.claims[position];
    if (is_ahead(claim, own) && (asked_devices(claim) >> device & 1U) != 0 &&
        !is_kept_out_by_external(snapshot, claim, device) && (!next || claim.ticket > snapshot.claims[*next].ticket)) {
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

namespace {

bool has(DeviceMask devices, std::size_t device) { return (devices >> device & 1U) != 0; }

/// The sums of bytes that some of a set of processes can have, as far as they are within `most`.
class Sums {
public:
  Sums(std::uint64_t most, std::uint64_t always) : unit_{most / units + 1}, most_{most} {
    if (always <= most) {
      reached_[always / unit_] = true;
      rounded_ += always % unit_ == 0 ? 0 : 1;
    }
  }

  /// One more process, which may have nothing, `some`, or `all`.
  void add(std::uint64_t some, std::uint64_t all) {
    const auto before = reached_;
    reached_ |= before << shift(some);
    reached_ |= before << shift(all);
    rounded_ += some % unit_ == 0 && all % unit_ == 0 ? 0 : 1;
  }

  /// Whether there may be a sum above `least`, up to `most`.
  [[nodiscard]] bool any_above(std::uint64_t least) const {
    const std::uint64_t first = least / unit_ + 1;
    std::uint64_t unit = first - std::min(first, rounded_); // a sum is up to so many units more than it seems
    for (; unit <= most_ / unit_; ++unit) {
      if (reached_[unit]) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool any() const { return reached_.any(); }

private:
  static constexpr std::size_t units = 4096;

  [[nodiscard]] std::size_t shift(std::uint64_t bytes) const { return std::min<std::uint64_t>(bytes / unit_, units); }

  std::uint64_t unit_;
  std::uint64_t most_;
  std::uint64_t rounded_ = 0;
  std::bitset<units> reached_;
};

/// Whether `self` could delay the claim at `ahead`.
bool delays(const Snapshot& snapshot, std::size_t self, std::size_t ahead, std::size_t device) {
  const Claim& own = snapshot.claims[self];
  const Claim& first = snapshot.claims[ahead];
  const Capacity& capacity = snapshot.devices[device];
  const std::uint64_t needed = sum(first.overhead_bytes, first.lease_bytes);
  if (needed > capacity.total_bytes) {
    return false; // no release would make room for it
  }
  const std::uint64_t beside = capacity.total_bytes - needed;
  // Leases of later arrivals, which must not be what keeps it out.
  std::uint64_t later = own.stage == Stage::waiting ? own.lease_bytes : 0;
  // What others have, and may give back. External processes may end, too.
  std::uint64_t others = capacity.external_bytes;
  Sums sums{beside, own.overhead_bytes};
  sums.add(capacity.external_bytes, capacity.external_bytes);
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const Claim& claim = snapshot.claims[position];
    if (position == self || position == ahead || !is_on(claim, device)) {
      continue;
    }
    const bool leases = (claim.stage == Stage::waiting || claim.stage == Stage::holding) && has(claim.wanted, device);
    const bool earlier = leases && claim.ticket < first.ticket;
    const std::uint64_t most = earlier ? sum(claim.overhead_bytes, claim.lease_bytes) : claim.overhead_bytes;
    if (!earlier && leases && claim.stage == Stage::holding) {
      later = sum(later, claim.lease_bytes);
    }
    others = sum(others, most);
    sums.add(claim.overhead_bytes, most);
  }
  if (later == 0 || sum(sum(own.overhead_bytes, others), later) <= beside) {
    return false; // there is room for all of them at once
  }
  return later > beside ? sums.any() : sums.any_above(beside - later);
}

} // namespace

std::optional<std::size_t> delayed_by(const Snapshot& snapshot, std::size_t self, std::size_t device) {
  const Claim& own = snapshot.claims[self];
  std::optional<std::size_t> delayed;
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const Claim& claim = snapshot.claims[position];
    const bool is_ahead = own.stage == Stage::entering || claim.ticket < own.ticket;
    if (position != self && claim.stage == Stage::waiting && !claim.stopped && has(claim.wanted, device) && is_ahead &&
        (!delayed || claim.ticket < snapshot.claims[*delayed].ticket) && delays(snapshot, self, position, device)) {
      delayed = position;
    }
  }
  return delayed;
}

Snapshot with_growing(Snapshot snapshot, std::size_t position, std::uint64_t held_bytes) {
  Claim& growing = snapshot.claims[position];
  Claim held = growing;
  held.lease_bytes = held_bytes;
  for (Claim& claim : snapshot.claims) {
    claim.stopped = claim.stopped || (claim.stage == Stage::waiting && exclude_each_other(snapshot, claim, held));
  }
  growing.stage = Stage::waiting;
  growing.ticket = UINT64_MAX;
  growing.overhead_bytes = sum(growing.overhead_bytes, held_bytes);
  growing.lease_bytes -= std::min(growing.lease_bytes, held_bytes);
  return snapshot;
}

Leaving idle_to_evict(const Snapshot& snapshot, std::size_t position, const Wait& wait) {
  Leaving leaving{idle_among(snapshot, wait.blockers), false};
  if (leaving.positions.empty()) {
    return leaving;
  }
  if (auto enough = fewest(snapshot, leaving.positions, is_granted(position))) {
    leaving = {std::move(*enough), true};
  }
  return leaving;
}

std::optional<std::vector<std::size_t>> idle_to_evict_for(const Snapshot& snapshot, std::size_t position,
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
