#include "cli/devices_command.hpp"

#include "cli/free_memory.hpp"
#include "cli/json_text.hpp"
#include "cli/ledger_view.hpp"
#include "devices/device_list.hpp"
#include "devices/witness.hpp"
#include "policy/visible_devices.hpp"
#include "system/environment.hpp"
#include "system/process.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <memory>

namespace gputest::cli {

namespace {

/// The ledger's index of a device, or one past its last where the ledger does not know the device yet.
std::size_t index_on_ledger(const LedgerView& view, const std::string& uuid) {
  const auto found = std::find(view.uuids.begin(), view.uuids.end(), uuid);
  return static_cast<std::size_t>(std::distance(view.uuids.begin(), found));
}

void add_claims(DeviceReport& report, const LedgerView& view, policy::DeviceMask device) {
  for (const auto& entry : view.entries) {
    const auto& claim = entry.claim;
    if (claim.stage == policy::Stage::outside || claim.stage == policy::Stage::entering ||
        (claim.devices & device) == 0) {
      continue;
    }
    ++report.processes;
    report.context_bytes += claim.overhead_bytes;
    if (claim.stage == policy::Stage::holding && (claim.wanted & device) != 0) {
      report.leased_bytes += claim.lease_bytes;
    }
  }
}

/// The test or command on the ledger that a process belongs to, by itself or an ancestor; empty for a stranger.
std::string who_is(std::int64_t pid, const LedgerView& view) {
  for (std::optional ancestor = static_cast<pid_t>(pid); ancestor && *ancestor > 1;
       ancestor = system::parent_of(*ancestor)) {
    for (const auto& entry : view.entries) {
      if (entry.pid == *ancestor) {
        return entry.who;
      }
    }
  }
  return "";
}

DeviceReport look_at_device(const devices::DeviceList& list, std::size_t index, const ledger::DeviceWitness& witness,
                            const LedgerView& view) {
  DeviceReport report;
  report.index = index;
  report.device = list.devices()[index];
  report.reserved_bytes = list.reserved_bytes(index);
  report.set_aside_bytes = list.set_aside_bytes(index);
  report.facts = list.facts(index, devices::AskDriver::yes);
  const auto use = list.memory(index);
  report.used_bytes = use.used_bytes;
  if (use.processes) {
    report.users.emplace();
    for (const auto& process : *use.processes) {
      report.users->push_back({process.pid, process.used_bytes, who_is(process.pid, view)});
    }
  }

  const std::size_t bit = index_on_ledger(view, report.device.uuid);
  const bool known = bit < view.uuids.size();
  // Nobody can have a claim on a device that the ledger does not know: an empty mask says so.
  const policy::DeviceMask mask = known ? policy::DeviceMask{1} << bit : 0;
  const auto capacity = witness.capacity(report.device.uuid, view.entries, mask);
  report.stranger_bytes = capacity.stranger_bytes;
  add_claims(report, view, mask);

  policy::Snapshot snapshot;
  if (known) {
    snapshot.devices.resize(view.uuids.size());
    for (const auto& entry : view.entries) {
      snapshot.claims.push_back(entry.claim);
    }
    snapshot.devices[bit] = capacity;
  } else {
    snapshot.devices.push_back(capacity);
  }
  const std::uint64_t measured = known ? view.overhead_bytes[bit] : 0;
  const std::uint64_t overhead = measured != 0 ? measured : list.usual_overhead_bytes(index);
  report.free_bytes = free_bytes_for_next(snapshot, known ? bit : 0, overhead);
  return report;
}

} // namespace

DevicesReport look_at_devices(const policy::Settings& settings, const policy::ReadVariable& read) {
  DevicesReport report;
  report.gpu_required = settings.require_gpu;
  const std::shared_ptr<const devices::DeviceList> list = devices::open_devices(settings, report.why_none);
  report.origin = list->origin();
  report.left_out = list->left_out();
  const auto witness = devices::make_witness(list);
  const LedgerView view = look_at_ledger(settings.folder, witness);

  std::vector<std::string> uuids;
  for (const auto& device : list->devices()) {
    uuids.push_back(device.uuid);
  }
  const auto visible = policy::visible_devices(read("CUDA_VISIBLE_DEVICES"), uuids);
  for (std::size_t i = 0; i < uuids.size(); ++i) {
    report.devices.push_back(look_at_device(*list, i, *witness, view));
    report.devices.back().visible = std::find(visible.begin(), visible.end(), i) != visible.end();
  }
  return report;
}

ExitCode devices_command(bool json) {
  const auto report = look_at_devices(policy::parse_settings(system::read_variable), system::read_variable);
  fmt::print("{}", json ? json_text(to_json(report)) : to_text(report));
  return exit_code_of(report);
}

} // namespace gputest::cli
