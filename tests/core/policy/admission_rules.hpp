// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/admission.hpp"
#include "core/policy/queues.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

// What holds for the decisions on any claims. The fuzzer checks it, and admission_properties_test.cpp.
namespace gputest::policy::rules {

/// Wide enough for sums that would wrap.
__extension__ using Sum = unsigned __int128;

constexpr std::size_t max_devices = 64;

inline void require(bool holds, const char* rule) {
  if (!holds) {
    throw std::logic_error{rule};
  }
}

constexpr DeviceMask bit(std::size_t device) { return DeviceMask{1} << device; }

inline bool holds(const Claim& claim, std::size_t device) {
  return claim.stage == Stage::holding && (claim.wanted & bit(device)) != 0;
}

/// What others claim of a device, added up the plain way.
struct Load {
  Sum overheads = 0;
  Sum leases = 0;
  Sum largest = 0;
  int inside = 0;
  int whole = 0;
  int medium_locks = 0;
};

inline Load load_of_others(const Snapshot& snapshot, std::size_t self, std::size_t device) {
  Load load;
  for (std::size_t position = 0; position < snapshot.claims.size(); ++position) {
    const Claim& claim = snapshot.claims[position];
    const bool inside = claim.stage == Stage::inside || claim.stage == Stage::waiting ||
                        claim.stage == Stage::holding || claim.stage == Stage::idle;
    if (position == self || !inside || (claim.devices & bit(device)) == 0) {
      continue;
    }
    ++load.inside;
    load.overheads += claim.overhead_bytes;
    load.largest = std::max<Sum>(load.largest, claim.largest_bytes);
    load.whole += claim.whole_devices ? 1 : 0;
    if (holds(claim, device)) {
      load.leases += claim.lease_bytes;
      load.whole += claim.exclusive ? 1 : 0;
      load.medium_locks += claim.medium_lock ? 1 : 0;
    }
  }
  return load;
}

inline Sum room_of(const Capacity& device) {
  return device.total_bytes - std::min(device.total_bytes, device.external_bytes);
}

inline void check_granted_device(const Snapshot& snapshot, std::size_t self, std::size_t device) {
  const Claim& own = snapshot.claims[self];
  const Load load = load_of_others(snapshot, self, device);
  const Sum module = room_of(snapshot.devices[device]);
  const Sum contexts = load.overheads + own.overhead_bytes;
  if (own.stage == Stage::entering) {
    require(contexts + std::max<Sum>(load.largest, own.largest_bytes) <= module, "somebody inside can finish");
    require(contexts + load.leases <= module, "a context fits beside what is held");
    require(load.whole == 0 && (!own.whole_devices || load.inside == 0), "a whole device has one process");
  } else {
    require(contexts + load.leases + own.lease_bytes <= module, "a lease fits");
    require(!own.exclusive || load.inside == 0, "an exclusive lease is alone");
    require(!own.medium_lock || load.medium_locks == 0, "a seat is held once");
  }
}

/// Whether the claim could enter this one device, and how much would be left of it then.
inline bool could_enter(Snapshot snapshot, std::size_t self, std::size_t device, Sum& left) {
  Claim& own = snapshot.claims[self];
  own.candidates = bit(device);
  own.gpus = 1;
  const Load load = load_of_others(snapshot, self, device);
  left = room_of(snapshot.devices[device]) - load.overheads - own.overhead_bytes - load.leases;
  return std::holds_alternative<Grant>(decide(snapshot, self));
}

inline void check_that_those_with_most_room_are_taken(const Snapshot& snapshot, std::size_t self, const Grant& grant) {
  Sum least_taken = ~Sum{0};
  Sum most_left = 0;
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    Sum left = 0;
    if ((snapshot.claims[self].candidates & bit(d)) == 0 || !could_enter(snapshot, self, d, left)) {
      continue;
    }
    ((grant.devices & bit(d)) != 0 ? least_taken : most_left) =
        (grant.devices & bit(d)) != 0 ? std::min(least_taken, left) : std::max(most_left, left);
  }
  require(least_taken >= most_left, "the devices with most room are taken");
}

/// Whether a claim that waits to enter could have the device if nobody else were on the ledger.
inline bool could_have(const Snapshot& snapshot, Claim alone, std::size_t device) {
  std::vector<bool> could;
  const DeviceMask candidates = alone.candidates;
  const unsigned gpus = std::exchange(alone.gpus, 1);
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    alone.candidates = candidates & bit(d);
    could.push_back(alone.candidates != 0 && std::holds_alternative<Grant>(decide({snapshot.devices, {alone}}, 0)));
  }
  return could[device] && std::count(could.begin(), could.end(), true) >= gpus;
}

inline void check(const Snapshot& snapshot, std::size_t self, const Grant& grant) {
  const Claim& own = snapshot.claims[self];
  const bool enters = own.stage == Stage::entering;
  const DeviceMask asked = asked_devices(own);
  require((grant.devices & ~asked) == 0, "only what was asked for");
  require(enters ? static_cast<unsigned>(__builtin_popcountll(grant.devices)) == own.gpus : grant.devices == asked,
          "all that was asked for");
  for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
    if ((grant.devices & bit(d)) != 0) {
      check_granted_device(snapshot, self, d);
    }
  }
  if (enters) {
    check_that_those_with_most_room_are_taken(snapshot, self, grant);
  }
  for (const Claim& other : snapshot.claims) {
    const DeviceMask shared = asked_devices(other) & grant.devices;
    if (other.stage != own.stage || other.ticket >= own.ticket || shared == 0) {
      continue;
    }
    require(!enters || snapshot.external_is_certain, "whoever enters passes nobody on a guess");
    require(!other.exclusive && !(other.medium_lock && own.medium_lock), "nobody passes one that it excludes");
    for (std::size_t d = 0; d < snapshot.devices.size(); ++d) {
      const Sum both = Sum{other.overhead_bytes} + other.lease_bytes + own.overhead_bytes + own.lease_bytes;
      require((shared & bit(d)) == 0 || enters || both <= snapshot.devices[d].total_bytes, "who passes leaves room");
      require((shared & bit(d)) == 0 || !enters || !could_have(snapshot, other, d),
              "whoever enters passes nobody who could have the device alone");
    }
  }
  require(!is_stuck(snapshot, self), "who is granted is not stuck");
}

/// Those that have to leave are idle and in the way, and nobody else has to; without them it is as was said.
inline void check_who_has_to_leave(const Snapshot& snapshot, std::size_t self, const Wait& wait) {
  const Leaving leaving = idle_to_evict(snapshot, self, wait);
  Snapshot left = snapshot;
  for (const std::size_t idle : leaving.positions) {
    require(snapshot.claims[idle].stage == Stage::idle, "those that have to leave are idle");
    require(std::count(wait.blockers.begin(), wait.blockers.end(), idle) == 1, "and in the way");
    left.claims[idle] = Claim{};
  }
  if (!leaving.positions.empty()) {
    require(std::holds_alternative<Grant>(decide(left, self)) == leaving.enough, "without them it is granted");
  }
  for (const std::size_t idle : leaving.positions) {
    Snapshot with_one = left;
    with_one.claims[idle] = snapshot.claims[idle];
    require(!std::holds_alternative<Grant>(decide(with_one, self)), "each of them has to");
  }
}

/// A wait names others; when they are gone, again and again, and external processes too, it ends.
inline void check_that_it_ends(Snapshot snapshot, std::size_t self, Decision decision) {
  for (std::size_t rounds = 0;; ++rounds) {
    const auto* wait = std::get_if<Wait>(&decision);
    if (wait == nullptr) {
      return;
    }
    require(rounds <= snapshot.claims.size() + 1, "a wait ends");
    const std::set<std::size_t> once{wait->blockers.begin(), wait->blockers.end()};
    require(once.size() == wait->blockers.size() && once.count(self) == 0, "others are named, each once");
    require(once.empty() || *once.rbegin() < snapshot.claims.size(), "those who are named are there");
    require(!once.empty() || wait->external, "a wait says for what");
    for (const std::size_t blocker : once) {
      require(snapshot.claims[blocker].stage != Stage::outside, "nobody who is outside is in the way");
      snapshot.claims[blocker] = Claim{};
    }
    if (once.empty()) {
      for (Capacity& device : snapshot.devices) {
        device.external_bytes = 0;
      }
    }
    decision = decide(snapshot, self);
  }
}

inline bool same(const Decision& a, const Decision& b) {
  if (a.index() != b.index()) {
    return false;
  }
  const auto* grant = std::get_if<Grant>(&a);
  return grant == nullptr || grant->devices == std::get<Grant>(b).devices;
}

inline bool is_asked(const Snapshot& snapshot, const Claim& claim) {
  // Nobody asks for no device, and a snapshot has the capacity of all that the claim wants.
  const DeviceMask known = snapshot.devices.size() == max_devices ? ~DeviceMask{0} : bit(snapshot.devices.size()) - 1;
  return (claim.stage == Stage::entering && claim.gpus > 0) ||
         (claim.stage == Stage::waiting && (claim.wanted & ~known) == 0);
}

inline void check_concerned(const Snapshot& snapshot) {
  for (const std::size_t position : concerned(snapshot.claims, 1)) {
    require(position < snapshot.claims.size() && asked_devices(snapshot.claims[position]) != 0, "whoever is told asks");
  }
}

/// Throws std::logic_error, with the rule that does not hold.
inline void check(const Snapshot& snapshot) {
  check_concerned(snapshot);
  Snapshot turned = snapshot;
  std::reverse(turned.claims.begin(), turned.claims.end());
  for (std::size_t self = 0; self < snapshot.claims.size(); ++self) {
    const Claim& own = snapshot.claims[self];
    static_cast<void>(is_stuck(snapshot, self));
    require(may_raise(snapshot, self, own.lease_bytes / 2) || !may_raise(snapshot, self, own.lease_bytes),
            "who may wait for more may wait for less");
    require(!may_raise(snapshot, self, own.lease_bytes) || idle_to_evict_for(snapshot, self, own.lease_bytes)->empty(),
            "nobody has to leave for what may be waited for");
    static_cast<void>(own.stage == Stage::idle && is_in_the_way(snapshot, self));
    if (!is_asked(snapshot, own)) {
      continue;
    }
    const Decision decision = decide(snapshot, self);
    require(same(decision, decide(snapshot, self)), "the same snapshot gives the same answer");
    require(same(decision, decide(turned, snapshot.claims.size() - 1 - self)), "the order of records does not matter");
    if (const auto* grant = std::get_if<Grant>(&decision)) {
      check(snapshot, self, *grant);
    }
    if (const auto* wait = std::get_if<Wait>(&decision)) {
      check_who_has_to_leave(snapshot, self, *wait);
    }
    check_that_it_ends(snapshot, self, decision);
  }
}

} // namespace gputest::policy::rules
