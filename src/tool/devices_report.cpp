// SPDX-License-Identifier: BSD-3-Clause
#include "tool/devices_report.hpp"

#include "core/session/messages.hpp"
#include "tool/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gputest::tool {

namespace {

std::string size_text(std::uint64_t bytes) { return to_string(Bytes{bytes}); }

std::string ledger_text(const DeviceReport& device) {
  return fmt::format("{} by {}", size_text(device.context_bytes + device.leased_bytes), device.processes);
}

Bytes whole_memory(const DeviceReport& device) { return device.device.total + Bytes{device.set_aside_bytes}; }

std::string memory_text(const DeviceReport& device) {
  const std::string total = to_string(device.device.total);
  return device.set_aside_bytes == 0 ? total : total + " of " + to_string(whole_memory(device));
}

using Json = nlohmann::ordered_json;

const char* answer(const std::optional<bool>& has) {
  if (!has) {
    return "?";
  }
  return *has ? "yes" : "no";
}

/// Positions in the report of the devices whose memory this one can reach.
std::vector<std::size_t> other_peers(const DevicesReport& report, const DeviceReport& device) {
  std::vector<std::size_t> others;
  for (const std::size_t peer : device.facts.peers.value_or(std::vector<std::size_t>{})) {
    if (peer != device.index && peer < report.devices.size()) {
      others.push_back(peer);
    }
  }
  return others;
}

std::string peers_text(const DevicesReport& report, const DeviceReport& device) {
  if (!device.facts.peers) {
    return "?";
  }
  const auto others = other_peers(report, device);
  return others.empty() ? "none" : fmt::format("{}", fmt::join(others, ","));
}

const char* name_of(policy::ComputeMode mode) {
  return mode == policy::ComputeMode::exclusive_process ? "EXCLUSIVE_PROCESS"
         : mode == policy::ComputeMode::prohibited      ? "PROHIBITED"
                                                        : "default";
}

const char* name_of(policy::DriverModel model) {
  return model == policy::DriverModel::tcc ? "TCC" : model == policy::DriverModel::wddm ? "WDDM" : "-";
}

std::string abilities(const DevicesReport& report) {
  Table table{{{"INDEX", Align::right},
               {"SM"},
               {"MEMORY POOLS"},
               {"MANAGED"},
               {"CONCURRENT"},
               {"COOPERATIVE"},
               {"PEERS"},
               {"MIG"},
               {"DRIVER MODEL"},
               {"COMPUTE MODE"}}};
  for (const auto& device : report.devices) {
    const auto& facts = device.facts;
    table.add_row({std::to_string(device.index), facts.sm ? std::to_string(*facts.sm) : "?", answer(facts.memory_pools),
                   answer(facts.managed_memory), answer(facts.concurrent_managed_access),
                   answer(facts.cooperative_launch), peers_text(report, device), answer(facts.mig),
                   name_of(facts.driver_model), name_of(facts.compute_mode)});
  }
  return table.to_string();
}

/// What is odd about a device, and what is done about it; one sentence each.
std::vector<std::string> notes_of(const DeviceReport& device) {
  const auto& facts = device.facts;
  std::vector<std::string> all;
  if (const auto why = policy::why_unusable(facts); !why.empty()) {
    all.push_back("cannot be used: " + why);
  }
  if (facts.compute_mode == policy::ComputeMode::exclusive_process) {
    all.emplace_back("compute mode EXCLUSIVE_PROCESS: one process at a time can use it");
  }
  if (facts.shares_host_memory) {
    all.emplace_back("integrated: its memory is the host's, so what the host has available counts as free");
  }
  if (!facts.lists_processes) {
    all.emplace_back("the driver does not list the processes that use it. What is in use beyond all claims counts as "
                     "external, and memory of a killed process as free when nothing is in use, or after a second");
  }
  if (facts.driver_model == policy::DriverModel::wddm) {
    all.emplace_back("driver model WDDM: the driver does not say how much each process uses. What is in use beyond all "
                     "claims counts as external");
  }
  if (!facts.why_unknown.empty()) {
    all.push_back("capabilities are unknown, and count as missing: " + facts.why_unknown);
  }
  if (device.set_aside_bytes != 0) {
    all.push_back("GPUTEST_DEVICE_MEMORY: gputest decides as on a device of " + to_string(device.device.total));
  }
  if (facts.processes_allowed != 0) {
    all.push_back(fmt::format("GPUTEST_PROCESSES_PER_DEVICE: at most {} at once", facts.processes_allowed));
  }
  return all;
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json users_json(const DeviceReport& device) {
  if (!device.users) {
    return nullptr;
  }
  auto users = Json::array();
  for (const auto& user : *device.users) {
    users.push_back({{"pid", user.pid}, {"used_bytes", or_null(user.used_bytes)}, {"who", user.who}});
  }
  return users;
}

Json peers_json(const DevicesReport& report, const DeviceReport& device) {
  if (!device.facts.peers) {
    return nullptr;
  }
  auto uuids = Json::array();
  for (const std::size_t peer : other_peers(report, device)) {
    uuids.push_back(report.devices[peer].device.uuid);
  }
  return uuids;
}

std::string details_text(const DevicesReport& report) {
  std::string remarks;
  for (const auto& device : report.devices) {
    for (const auto& user : device.users.value_or(std::vector<DeviceUser>{})) {
      remarks += fmt::format("{:>5}  used by {} (pid {}, {})\n", device.index,
                             user.who.empty() ? "an external process" : user.who, user.pid,
                             user.used_bytes ? to_string(Bytes{*user.used_bytes}) : "unknown bytes");
    }
    for (const auto& note : notes_of(device)) {
      remarks += fmt::format("{:>5}  {}\n", device.index, note);
    }
  }
  return abilities(report) + (remarks.empty() ? "" : "\n" + remarks);
}

/// Why tests have no device, although the machine has some.
std::string why_no_device(const DevicesReport& report) {
  const auto& devices = report.devices;
  const auto usable = [](const DeviceReport& device) { return policy::why_unusable(device.facts).empty(); };
  if (std::any_of(devices.begin(), devices.end(), usable)) {
    return report.restriction + " hides every GPU that can be used";
  }
  const bool hides = std::any_of(devices.begin(), devices.end(), [](const DeviceReport& d) { return !d.visible; });
  return std::string{devices.size() == 1 ? "it" : "none of them"} +
         (devices.size() == 1 ? " cannot be used, for the reason above" : " can be used, for the reasons above") +
         (hides ? "; and " + report.restriction + " hides some" : "");
}

} // namespace

std::optional<Bytes> bytes_for_tests(const DeviceReport& device) {
  if (!device.visible || !policy::why_unusable(device.facts).empty()) {
    return std::nullopt;
  }
  return device.device.total - Bytes{device.reserved_bytes} - Bytes{device.external_bytes};
}

bool has_usable_device(const DevicesReport& report) {
  return std::any_of(report.devices.begin(), report.devices.end(),
                     [](const DeviceReport& device) { return bytes_for_tests(device).has_value(); });
}

std::string to_text(const DevicesReport& report) {
  if (report.devices.empty()) {
    return "no GPU: " + report.why_none + ". " + session::simulated_instead + "\n";
  }
  Table table{{{"INDEX", Align::right},
               {"UUID"},
               {"NAME"},
               {"MEMORY", Align::right},
               {"IN USE", Align::right},
               {"ON LEDGER", Align::right},
               {"EXTERNAL", Align::right},
               {"FREE FOR NEXT", Align::right},
               {"VISIBLE"}}};
  for (const auto& device : report.devices) {
    table.add_row({std::to_string(device.index), device.device.uuid, device.device.name, memory_text(device),
                   size_text(device.used_bytes), ledger_text(device), size_text(device.external_bytes),
                   size_text(device.free_bytes), device.visible ? "yes" : "no"});
  }
  std::string text = table.to_string() + "\n" + details_text(report) + "\n" + report.origin + "\n";
  text += report.left_out.empty() ? "" : report.left_out + "\n";
  if (!has_usable_device(report)) {
    text += "no GPU for tests: " + why_no_device(report) + "\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const DevicesReport& report) {
  auto devices = Json::array();
  for (const auto& device : report.devices) {
    const auto& facts = device.facts;
    devices.push_back({{"index", device.index},
                       {"uuid", device.device.uuid},
                       {"name", device.device.name},
                       {"simulated", device.device.simulated},
                       {"mig_slice", facts.mig},
                       {"visible", device.visible},
                       {"why_unusable", policy::why_unusable(facts)},
                       {"total_bytes", whole_memory(device).count()},
                       {"reserved_bytes", device.reserved_bytes},
                       {"used_bytes", device.used_bytes},
                       {"ledger_processes", device.processes},
                       {"ledger_context_bytes", device.context_bytes},
                       {"ledger_leased_bytes", device.leased_bytes},
                       {"external_bytes", device.external_bytes},
                       {"free_for_next_bytes", device.free_bytes},
                       {"limit_bytes", device.device.total.count()},
                       {"sm", or_null(facts.sm)},
                       {"memory_pools", or_null(facts.memory_pools)},
                       {"managed_memory", or_null(facts.managed_memory)},
                       {"concurrent_managed_access", or_null(facts.concurrent_managed_access)},
                       {"cooperative_launch", or_null(facts.cooperative_launch)},
                       {"peer_uuids", peers_json(report, device)},
                       {"driver_model", name_of(facts.driver_model)},
                       {"compute_mode", name_of(facts.compute_mode)},
                       {"shares_host_memory", facts.shares_host_memory},
                       {"lists_processes", facts.lists_processes},
                       {"users", users_json(device)},
                       {"notes", notes_of(device)}});
  }
  return {{"version", json_version},     {"origin", report.origin},           {"why_none", report.why_none},
          {"left_out", report.left_out}, {"restriction", report.restriction}, {"devices", devices}};
}

} // namespace gputest::tool
