// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/look.hpp"

#include "core/policy/leaving.hpp"

#include <algorithm>
#include <variant>

namespace gputest::ledger {

void attribute_external(Blocked& blocked, const std::vector<Record>& all, std::size_t own, policy::DeviceMask devices,
                        const Observations& seen) {
  for_each_device(devices, [&](std::size_t index) {
    const auto observation = seen.devices.find(index);
    if (observation == seen.devices.end()) {
      return;
    }
    const auto device = policy::DeviceMask{1} << index;
    std::uint64_t external = observation->second->capacity(all, device).external_bytes;
    const auto beyond = observation->second->beyond_claims(all, device);
    bool known = false;
    for (std::size_t i = 0; i < beyond.size(); ++i) {
      external -= std::min(external, beyond[i]);
      known = known || beyond[i] > 0;
      if (i == own) {
        blocked.own_excess_bytes = std::max(blocked.own_excess_bytes, beyond[i]);
      } else if (beyond[i] > 0) {
        blocked.excesses.push_back({all[i], beyond[i]});
      }
    }
    blocked.external = blocked.external || external > (known ? bytes_of_an_unused_device : 0);
  });
}

Look look_at(const std::vector<Record>& all, std::size_t own, const policy::Snapshot& snapshot,
             const Observations& seen, bool queued) {
  const policy::Claim& claim = all[own].claim;
  Look look;
  look.decision = policy::decide(snapshot, own);
  // A process that passes others must not delay them: how much external processes have of the device has to be known.
  const bool nobody_else_waits = std::none_of(all.begin(), all.end(), [&](const Record& record) {
    return record.slot != all[own].slot && record.claim.stage == policy::Stage::waiting &&
           (record.claim.wanted & claim.wanted) != 0;
  });
  look.decided = seen.complete || (std::holds_alternative<policy::Grant>(look.decision) && nobody_else_waits);
  if (const auto* wait = std::get_if<policy::Wait>(&look.decision)) {
    look.external = wait->external;
    look.blocked.own_overhead_bytes = claim.overhead_bytes;
    if (wait->external || !queued) {
      attribute_external(look.blocked, all, own, policy::asked_devices(claim), seen);
    }
    if (!wait->external) {
      look.blocked.excesses.clear();
      look.blocked.external = false;
    }
    for (const std::size_t blocker : wait->blockers) {
      look.blocked.blockers.push_back(all[blocker]);
      (all[blocker].alive ? look.living : look.dead).push_back(all[blocker]);
    }
    const auto leaving = policy::who_has_to_leave(snapshot, own, *wait);
    for (const std::size_t idle : leaving.positions) {
      look.to_leave.push_back(all[idle]);
    }
    look.they_leave =
        !look.to_leave.empty() && (leaving.enough || (look.to_leave.size() == look.living.size() && !look.external));
    if (wait->behind == 0) {
      look.stuck = policy::is_stuck(snapshot, own);
    }
    for_each_device(claim.wanted, [&](std::size_t index) {
      look.nobody_moves = look.nobody_moves || policy::everybody_waits(snapshot, policy::DeviceMask{1} << index);
    });
  }
  return look;
}

} // namespace gputest::ledger
