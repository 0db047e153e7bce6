// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/admission.hpp"

#include "core/policy/queues.hpp"

#include <algorithm>

namespace gputest::policy {

namespace {

constexpr DeviceMask bit(std::size_t device) { return DeviceMask{1} << device; }

bool holds_on(const Claim& claim, std::size_t device) {
  return claim.stage == Stage::holding && (claim.wanted & bit(device)) != 0;
}

/// The claims of everybody else on one device, added up.
struct Load {
  std::uint64_t overhead_bytes = 0;
  std::uint64_t leased_bytes = 0;
  std::uint64_t largest_bytes = 0;
  bool anybody = false;
  bool whole = false;                           ///< somebody holds, or may wait for, the whole device
  std::vector<std::size_t> positions;           ///< whose claims these are
  std::vector<std::size_t> holders;             ///< those of them that hold a lease
  std::vector<std::size_t> medium_lock_holders; ///< and of these, the medium lock
  std::uint64_t held_bytes = 0;                 ///< the holders' leases and overheads
};

Load load_of_others(const Snapshot& snapshot, std::size_t self, std::size_t device) {
  Load load;
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const Claim& claim = snapshot.claims[position];
    if (position == self || !is_on(claim, device)) {
      continue;
    }
    load.anybody = true;
    load.positions.push_back(position);
    load.overhead_bytes = sum(load.overhead_bytes, claim.overhead_bytes);
    load.largest_bytes = std::max(load.largest_bytes, claim.largest_bytes);
    load.whole = load.whole || claim.whole_devices;
    if (holds_on(claim, device)) {
      load.leased_bytes = sum(load.leased_bytes, claim.lease_bytes);
      load.held_bytes = sum(load.held_bytes, sum(claim.lease_bytes, claim.overhead_bytes));
      load.holders.push_back(position);
      load.whole = load.whole || claim.exclusive;
      if (claim.medium_lock) {
        load.medium_lock_holders.push_back(position);
      }
    }
  }
  return load;
}

/// Whether `bytes` fit in what external processes leave of the device, and if not, whether they would without the
/// external processes.
struct Fit {
  bool now = false;
  bool but_for_external = false;
};

/// Whether external processes hold too much of a device to call the rest of it the whole: more than half. Desktops, and
/// hosts that share their memory with the device, keep a part of it for ever.
bool external_share(const Capacity& device) { return device.external_bytes > device.total_bytes / 2; }

/// Whether an exclusive lease of so many bytes cannot be had because of that. One with bytes is not the whole device.
bool lacks_whole(std::uint64_t bytes, const Capacity& device) { return bytes == 0 && external_share(device); }

/// What external processes leave of a device; they may hold more than it could give, with what the driver reserves.
std::uint64_t room_of(const Capacity& device) {
  return device.total_bytes - std::min(device.external_bytes, device.total_bytes);
}

Fit fits(const Capacity& device, std::uint64_t bytes) {
  return {bytes <= room_of(device), bytes <= device.total_bytes};
}

void add(std::vector<std::size_t>& to, std::size_t position) {
  if (std::find(to.begin(), to.end(), position) == to.end()) {
    to.push_back(position);
  }
}

void add_all(std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
  for (const std::size_t position : from) {
    add(to, position);
  }
}

std::uint64_t largest_total(const Snapshot& snapshot, DeviceMask devices) {
  std::uint64_t largest = 0;
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    if ((devices & bit(d)) != 0) {
      largest = std::max(largest, snapshot.devices[d].total_bytes);
    }
  }
  return largest;
}

Decision decide_entering(const Snapshot& snapshot, std::size_t self) {
  const Claim& own = snapshot.claims[self];
  const std::uint64_t needed = sum(own.overhead_bytes, own.largest_bytes);
  struct Room {
    std::size_t device;
    std::uint64_t free_bytes;
  };
  std::vector<Room> rooms;
  unsigned candidates = 0;
  unsigned large_enough = 0;
  bool first_somewhere = false;
  Wait wait;
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    if ((own.candidates & bit(d)) == 0) {
      continue;
    }
    ++candidates;
    const Capacity& device = snapshot.devices[d];
    if (needed > device.total_bytes) {
      continue;
    }
    ++large_enough;
    if (const auto ahead = next_ahead(snapshot, self, d)) {
      add(wait.blockers, *ahead);
      wait.behind = snapshot.claims[*ahead].ticket;
      continue;
    }
    first_somewhere = true;
    const Load load = load_of_others(snapshot, self, d);
    const std::uint64_t overheads = sum(load.overhead_bytes, own.overhead_bytes);
    // Whoever is inside must be able to finish: all contexts and the largest single lease fit together. And what is
    // held now must leave room for one more context.
    const std::uint64_t claimed =
        std::max(sum(overheads, std::max(load.largest_bytes, own.largest_bytes)), sum(overheads, load.leased_bytes));
    const Fit fit = fits(device, claimed);
    const bool has_place =
        device.most_processes == 0 || load.positions.size() < static_cast<std::size_t>(device.most_processes);
    const bool may_enter =
        has_place && !load.whole && !(own.whole_devices && (load.anybody || lacks_whole(own.largest_bytes, device)));
    const auto delayed = fit.now && may_enter ? delayed_by(snapshot, self, d) : std::nullopt;
    if (fit.now && may_enter && !delayed) {
      rooms.push_back({d, room_of(device) - sum(overheads, load.leased_bytes)});
      continue;
    }
    add_all(wait.blockers, load.positions);
    if (delayed) {
      add(wait.blockers, *delayed);
    }
    wait.external = wait.external || (own.whole_devices && lacks_whole(own.largest_bytes, device)) ||
                    ((delayed || (!fit.now && fit.but_for_external)) && device.external_bytes > 0);
  }
  if (large_enough < own.gpus) {
    return Refusal{needed, largest_total(snapshot, own.candidates), own.gpus, candidates};
  }
  if (rooms.size() < own.gpus) {
    wait.behind = first_somewhere ? 0 : wait.behind;
    return wait;
  }
  std::stable_sort(rooms.begin(), rooms.end(),
                   [](const Room& a, const Room& b) { return a.free_bytes > b.free_bytes; });
  Grant grant;
  for (unsigned i = 0; i < own.gpus; ++i) {
    grant.devices |= bit(rooms[i].device);
  }
  return grant;
}

Decision decide_waiting(const Snapshot& snapshot, std::size_t self) {
  const Claim& own = snapshot.claims[self];
  const std::uint64_t needed = sum(own.overhead_bytes, own.lease_bytes);
  Wait wait;
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    if ((own.wanted & bit(d)) == 0) {
      continue;
    }
    if (needed > snapshot.devices[d].total_bytes) {
      return Refusal{needed, snapshot.devices[d].total_bytes, 1, 1};
    }
  }
  if (const auto ahead = nearest_excluder(snapshot, self)) {
    wait.blockers.push_back(*ahead);
    wait.behind = snapshot.claims[*ahead].ticket;
    return wait; // its turn comes after that one's
  }
  bool granted = true;
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    if ((own.wanted & bit(d)) == 0) {
      continue;
    }
    const Capacity& device = snapshot.devices[d];
    const Load load = load_of_others(snapshot, self, d);
    const Fit fit = fits(device, sum(needed, sum(load.overhead_bytes, load.leased_bytes)));
    const bool alone = !own.exclusive || (!load.anybody && !lacks_whole(own.lease_bytes, device));
    const bool medium_lock_held = own.medium_lock && !load.medium_lock_holders.empty();
    if (!fit.now || !alone || medium_lock_held) {
      granted = false;
      // While some keep it out by themselves, it is of no use to it that anybody else goes.
      // External processes may end: they do not count here.
      const bool by_holders =
          !load.holders.empty() && (own.exclusive || sum(needed, load.held_bytes) > device.total_bytes);
      add_all(wait.blockers, medium_lock_held ? load.medium_lock_holders : by_holders ? load.holders : load.positions);
      wait.external = wait.external || (own.exclusive && lacks_whole(own.lease_bytes, device)) ||
                      (!fit.now && fit.but_for_external && device.external_bytes > 0);
    } else if (const auto delayed = delayed_by(snapshot, self, d)) {
      granted = false;
      add_all(wait.blockers, load.positions);
      add(wait.blockers, *delayed);
      wait.external = wait.external || device.external_bytes > 0;
    }
  }
  if (granted) {
    return Grant{own.wanted};
  }
  return wait;
}

} // namespace

bool is_kept_out_by_external(const Claim& claim, const Capacity& device) {
  return !fits(device, sum(claim.overhead_bytes, claim.largest_bytes)).now ||
         (claim.whole_devices && lacks_whole(claim.largest_bytes, device));
}

Decision decide(const Snapshot& snapshot, std::size_t position) {
  return snapshot.claims[position].stage == Stage::entering ? decide_entering(snapshot, position)
                                                            : decide_waiting(snapshot, position);
}

bool may_raise(const Snapshot& snapshot, std::size_t position, std::uint64_t bytes) {
  const Claim& own = snapshot.claims[position];
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    if ((own.devices & bit(d)) == 0) {
      continue;
    }
    const Load load = load_of_others(snapshot, position, d);
    const std::uint64_t contexts = sum(load.overhead_bytes, own.overhead_bytes);
    // Who has announced the whole device may wait until everybody else has left it.
    if (load.whole || !fits(snapshot.devices[d], sum(contexts, std::max(bytes, load.largest_bytes))).now) {
      return false;
    }
  }
  return true;
}

bool everybody_waits(const Snapshot& snapshot, DeviceMask devices) {
  return std::all_of(snapshot.claims.begin(), snapshot.claims.end(), [&](const Claim& claim) {
    return !is_inside(claim) || leaves_when_notified(claim) || (claim.devices & devices) == 0 ||
           (claim.stage == Stage::waiting && (claim.wanted & devices) != 0);
  });
}

bool is_stuck(const Snapshot& snapshot, std::size_t position) {
  const Claim& own = snapshot.claims[position];
  if (own.stage != Stage::waiting) {
    return false;
  }
  Snapshot staying = snapshot;
  for (Claim& claim : staying.claims) {
    claim.stage = leaves_when_notified(claim) ? Stage::outside : claim.stage;
  }
  bool stuck = false;
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    if ((own.wanted & bit(d)) == 0) {
      continue;
    }
    if (next_ahead(snapshot, position, d)) {
      return false;
    }
    const std::uint64_t contexts = sum(load_of_others(staying, position, d).overhead_bytes, own.overhead_bytes);
    stuck = stuck ||
            (sum(contexts, own.lease_bytes) > snapshot.devices[d].total_bytes && everybody_waits(snapshot, bit(d)));
  }
  return stuck;
}

} // namespace gputest::policy
