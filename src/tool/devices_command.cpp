// SPDX-License-Identifier: BSD-3-Clause
#include "tool/commands.hpp"

#include "core/devices/device_list.hpp"
#include "core/ledger/device_probe.hpp"
#include "core/ledger/ledger_view.hpp"
#include "core/ledger/storage/ledger_folder.hpp"
#include "core/os/file.hpp"
#include "core/session/allowed_devices.hpp"
#include "core/settings/settings.hpp"
#include "tool/command_facts.hpp"
#include "tool/ctest_facts.hpp"
#include "tool/free_memory.hpp"
#include "tool/needs.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace gputest::tool {

namespace {

constexpr const char* devices_help =
    R"(Reads the devices from NVML, and asks the CUDA driver what each GPU can do (about 100 ms per GPU). It creates no CUDA
context and takes no device memory.

Columns:
  IN USE         memory in use by all processes, without what the driver reserves
  ON LEDGER      memory of the processes in the ledger (contexts and leases), and their number
  EXTERNAL       memory of processes that are not in this ledger: without gputest, or in a container with another ledger
  FREE FOR NEXT  what a test could lease now without waiting, in addition to its context; 0 B also if other tests wait
  VISIBLE        no: CUDA_VISIBLE_DEVICES, or the list of a Slurm job, hides the GPU from tests
Below the table are the capabilities of each GPU ('?': not known, '-': does not apply), the processes that use it, and remarks.
MEMORY '8 GiB of 140 GiB' means that GPUTEST_DEVICE_MEMORY makes gputest decide as on a GPU with 8 GiB.

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  origin       what kind of devices these are: the driver's version, or simulated
  why_none     why there are no devices; empty if there are some
  left_out     why some GPUs are not in the list; empty if all are
  restriction  what decides which devices are visible, such as CUDA_VISIBLE_DEVICES='0'
  devices      list of objects:
    index, uuid, name, simulated, mig_slice, visible, why_unusable (empty if it can be used)
    total_bytes, reserved_bytes (the driver's own), used_bytes
    limit_bytes (what decisions use; less than total_bytes under GPUTEST_DEVICE_MEMORY)
    ledger_processes, ledger_context_bytes, ledger_leased_bytes
    external_bytes, free_for_next_bytes
    sm (90 for 9.0), memory_pools, managed_memory, concurrent_managed_access, cooperative_launch: null if not known
    peer_uuids (devices whose memory it can reach, null if not known), driver_model, compute_mode
    shares_host_memory, lists_processes
    users (null if the driver lists none): list of pid, used_bytes (null if not known), who (empty: an external process)
    notes: list of sentences about what is unusual
)";

void add_claims(DeviceReport& report, const ledger::LedgerView& view, policy::DeviceMask device) {
  for (const auto& entry : view.records) {
    const auto& claim = entry.claim;
    if (claim.stage == policy::Stage::outside || claim.stage == policy::Stage::entering ||
        (claim.devices & device) == 0) {
      continue;
    }
    ++report.processes;
    report.context_bytes = policy::sum(report.context_bytes, claim.overhead_bytes);
    if (claim.stage == policy::Stage::holding && (claim.wanted & device) != 0) {
      report.leased_bytes = policy::sum(report.leased_bytes, claim.lease_bytes);
    }
  }
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
      report.users->push_back({process.pid, process.used_bytes, ledger::name_of_owner(process.pid, view.records)});
    }
  }

  const auto on_ledger = std::find(view.uuids.begin(), view.uuids.end(), report.device.uuid);
  const bool known = on_ledger != view.uuids.end();
  const auto bit = static_cast<std::size_t>(on_ledger - view.uuids.begin());
  // No process has a claim on a device that the ledger does not know: the mask is empty.
  const policy::DeviceMask mask = known ? policy::DeviceMask{1} << bit : 0;
  const auto capacity = probe.capacity(report.device.uuid, view.records, mask);
  report.external_bytes = capacity.external_bytes;
  add_claims(report, view, mask);

  policy::Snapshot snapshot;
  if (known) {
    snapshot.devices.resize(view.uuids.size());
    for (const auto& entry : view.records) {
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
  const auto probe = ledger::make_probe(list);
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

namespace {

/// Also keeps what earlier runs of this ctest have taken: each ctest that starts calls this, in its folder.
std::string facts_for_ctest(const std::vector<std::string>& needs_files) {
  const auto report = look_at_devices(settings_from_environment(), devices::AskDriver::no);
  const auto facts = ctest_facts(report);
  if (facts.empty()) {
    return facts;
  }
  CommittedNeeds committed;
  for (const auto& file : needs_files) {
    try {
      for (auto& [test, figures] : parse_committed(os::contents_of(file).value_or(""))) {
        committed[test] = std::move(figures);
      }
    } catch (const Error& error) {
      fmt::print(stderr, "gputest: {}: {}\n", file, error.what());
    }
  }
  std::vector<Device> devices;
  for (const auto& device : report.devices) {
    if (bytes_for_tests(device)) {
      devices.push_back(device.device);
    }
  }
  const auto logs = settings::chosen_log_folder().value_or("Testing/gputest");
  return facts + needs_for_ctest(needs_in(logs, true), committed, devices);
}

} // namespace

void add_devices(CommandLine& line) {
  struct Options {
    bool json = false;
    bool for_ctest = false;
    std::vector<std::string> needs;
    std::string executable;
  };
  const auto options = std::make_shared<Options>();
  auto& command = line.add(
      {"devices", "Show the GPUs, and how much of each is free"},
      devices_help + exit_codes({{ExitCode::no_gpu, "no usable GPU although GPUTEST_REQUIRE_GPU=1 demands one"}}),
      [options](const auto& /*words*/) {
        if (options->for_ctest) {
          fmt::print("{}", facts_for_ctest(options->needs));
          return ExitCode::done;
        }
        if (!options->executable.empty()) {
          fmt::print("{}", names_no_gpu(options->executable) ? "no" : "yes");
          return ExitCode::done;
        }
        const auto report = look_at_devices(settings_from_environment(), devices::AskDriver::yes);
        fmt::print("{}", options->json ? json_text(to_json(report)) : to_text(report));
        return report.gpu_required && !has_usable_device(report) ? ExitCode::no_gpu : ExitCode::done;
      });
  auto* json = command.add_flag("--json", options->json, "print JSON, for programs");
  command
      .add_flag("--for-ctest", options->for_ctest,
                "print what a ctest that starts has to know; used by gputest's CMake code")
      ->excludes(json);
  command
      .add_option(
          "--may-use", options->executable,
          "print whether a test executable may use one, by the names of libraries in its files; used by gputest's "
          "CMake code")
      ->type_name("FILE")
      ->excludes(json);
  command.add_option("--needs", options->needs, "with --for-ctest: files that 'gputest needs --export' has written")
      ->type_name("FILE");
}

} // namespace gputest::tool
