// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/ledger_view.hpp"
#include "core/settings/settings.hpp"

#include <gputest/session.hpp>

#include <utility>

namespace gputest {

namespace {

Claimant::Stage stage_of(policy::Stage stage) {
  switch (stage) {
  case policy::Stage::entering:
    return Claimant::Stage::entering;
  case policy::Stage::waiting:
    return Claimant::Stage::waiting;
  case policy::Stage::holding:
    return Claimant::Stage::holding;
  case policy::Stage::idle:
    return Claimant::Stage::idle;
  case policy::Stage::outside:
  case policy::Stage::inside:
    break;
  }
  return Claimant::Stage::inside;
}

policy::DeviceMask devices_of(const policy::Claim& claim) {
  const auto asked = policy::asked_devices(claim);
  return asked != 0 ? asked : claim.stage == policy::Stage::holding ? claim.wanted : claim.devices;
}

} // namespace

std::vector<Claimant> status(const Settings& settings) {
  settings::check_folder(settings.folder, "Settings::folder");
  const auto view = ledger::look_at_ledger(settings);
  std::vector<Claimant> all;
  for (const auto& record : view.entries) {
    const auto& claim = record.claim;
    if (claim.stage == policy::Stage::outside) {
      continue; // it has a slot but no claim yet
    }
    Claimant one;
    one.who = record.who;
    one.pid = record.pid;
    one.stage = stage_of(claim.stage);
    one.devices = ledger::uuids_in(view, devices_of(claim));
    const bool entering = claim.stage == policy::Stage::entering;
    one.lease = Bytes{entering ? claim.largest_bytes : claim.lease_bytes};
    one.whole_devices = entering ? claim.whole_devices : claim.exclusive;
    one.overhead = Bytes{claim.overhead_bytes};
    one.since = record.since;
    one.ended = !record.alive;
    all.push_back(std::move(one));
  }
  return all;
}

} // namespace gputest
