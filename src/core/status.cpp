#include "backend/device_list.hpp"
#include "ledger/backend_probe.hpp"
#include "ledger/ledger.hpp"
#include "ledger/stored_record.hpp"
#include "platform/ledger_folder.hpp"

#include <gputest/session.hpp>

#include <algorithm>

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
  std::string why_none;
  const std::shared_ptr<const backend::DeviceList> machine = backend::open_devices(settings, why_none);
  const auto probe = backend::make_probe(machine);
  ledger::Ledger ledger{platform::ledger_folder(settings.folder, settings.devices), probe};
  std::vector<Claimant> all;
  for (const auto& record : ledger.contents().entries) { // even if another process keeps the mutex
    const auto& claim = record.claim;
    Claimant one;
    bool counts = record.alive;
    for (std::size_t i = 0; i < ledger::most_devices; ++i) {
      const auto device = policy::DeviceMask{1} << i;
      const auto uuid = ledger.devices().uuid(i);
      if (uuid.empty()) {
        break;
      }
      if ((devices_of(claim) & device) != 0) {
        one.devices.push_back(uuid);
      }
      const auto found = std::find_if(machine->devices().begin(), machine->devices().end(),
                                      [&](const Device& known) { return known.uuid == uuid; });
      // If a device is not visible here, it is not known whether a dead process's bytes are free, and no process here
      // needs them.
      counts = counts ||
               ((claim.devices & device) != 0 && found != machine->devices().end() && !probe->is_back(uuid, record));
    }
    if (!counts || claim.stage == policy::Stage::outside) {
      continue;
    }
    one.who = record.who;
    one.pid = record.pid;
    one.stage = stage_of(claim.stage);
    one.lease = Bytes{claim.lease_bytes};
    one.whole_devices = claim.exclusive;
    one.overhead = Bytes{claim.overhead_bytes};
    one.since = record.since;
    one.ended = !record.alive;
    all.push_back(std::move(one));
  }
  return all;
}

} // namespace gputest
