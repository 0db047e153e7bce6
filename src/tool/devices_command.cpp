// SPDX-License-Identifier: BSD-3-Clause
#include "tool/devices_command.hpp"

#include "core/devices/device_list.hpp"
#include "core/ledger/backend_probe.hpp"
#include "core/ledger/ledger_view.hpp"
#include "core/os/ledger_folder.hpp"
#include "core/os/process.hpp"
#include "core/session/allowed_devices.hpp"
#include "tool/free_memory.hpp"
#include "tool/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

namespace gputest::tool {

namespace {

/// The ledger's index of a device, or one past its last if the ledger does not know the device yet.
std::size_t index_on_ledger(const ledger::LedgerView& view, const std::string& uuid) {
  const auto found = std::find(view.uuids.begin(), view.uuids.end(), uuid);
  return static_cast<std::size_t>(std::distance(view.uuids.begin(), found));
}

void add_claims(DeviceReport& report, const ledger::LedgerView& view, policy::DeviceMask device) {
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

/// The test or command in the ledger to which a process belongs: its own, an ancestor's, or that of its parent lease,
/// which it keeps after its ancestors have exited. Empty for an external process.
std::string who_is(std::int64_t pid, const ledger::LedgerView& view) {
  for (std::optional ancestor = static_cast<pid_t>(pid); ancestor && *ancestor > 1;
       ancestor = os::parent_of(*ancestor)) {
    for (const auto& entry : view.entries) {
      if (entry.pid == *ancestor) {
        return entry.who;
      }
    }
  }
  const auto environment = os::environment_of(static_cast<pid_t>(pid)).value_or(std::map<std::string, std::string>{});
  if (const auto lease = environment.find("GPUTEST_LEASE_OF"); lease != environment.end()) {
    for (const auto& entry : view.entries) {
      if (ledger::credential_of(entry) == lease->second) {
        return entry.who;
      }
    }
  }
  return "";
}

DeviceReport look_at_device(const devices::DeviceList& list, std::size_t index, const ledger::DeviceProbe& probe,
                            const ledger::LedgerView& view, devices::AskDriver ask) {
  DeviceReport report;
  report.index = index;
  report.device = list.devices()[index];
  report.reserved_bytes = list.reserved_bytes(index);
  report.set_aside_bytes = list.set_aside_bytes(index);
  report.facts = list.facts(index, ask);
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
  // No process has a claim on a device that the ledger does not know: the mask is empty.
  const policy::DeviceMask mask = known ? policy::DeviceMask{1} << bit : 0;
  const auto capacity = probe.capacity(report.device.uuid, view.entries, mask);
  report.external_bytes = capacity.external_bytes;
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
  report.next_context_bytes = measured != 0 ? measured : list.usual_overhead_bytes(index);
  report.free_bytes = free_bytes_for_next(snapshot, known ? bit : 0, report.next_context_bytes);
  return report;
}

} // namespace

DevicesReport look_at_devices(const Settings& settings, devices::AskDriver ask) {
  DevicesReport report;
  report.gpu_required = settings.require_gpu;
  const std::shared_ptr<const devices::DeviceList> list = devices::open_devices(settings, report.why_none);
  report.origin = list->origin();
  report.left_out = list->left_out();
  const auto probe = devices::make_probe(list);
  const ledger::LedgerView view = ledger::look_at_ledger(os::ledger_folder(settings.folder, settings.devices), probe);

  const auto allowed = session::allowed_devices(*list, settings);
  report.restriction = allowed.restriction;
  for (std::size_t i = 0; i < list->devices().size(); ++i) {
    report.devices.push_back(look_at_device(*list, i, *probe, view, ask));
    report.devices.back().visible =
        std::find(allowed.visible.begin(), allowed.visible.end(), i) != allowed.visible.end();
  }
  return report;
}

ExitCode devices_command(bool json) {
  const auto report = look_at_devices(settings_from_environment(), devices::AskDriver::yes);
  fmt::print("{}", json ? json_text(to_json(report)) : to_text(report));
  return exit_code_of(report);
}

} // namespace gputest::tool
