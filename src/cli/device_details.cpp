#include "cli/device_details.hpp"

#include "cli/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gputest::cli {

namespace {

using Json = nlohmann::ordered_json;

const char* answer(const std::optional<bool>& has) {
  if (!has) {
    return "?";
  }
  return *has ? "yes" : "no";
}

/// Places in the report of the other devices whose memory this one can reach.
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
  return others.empty() ? "-" : fmt::format("{}", fmt::join(others, ","));
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
                   to_string(facts.driver_model), to_string(facts.compute_mode)});
  }
  return table.to_string();
}

std::vector<std::string> notes_of(const DeviceReport& device) {
  auto notes = policy::oddities(device.facts);
  if (const auto why = policy::why_unusable(device.facts); !why.empty()) {
    notes.insert(notes.begin(), "cannot be used: " + why);
  }
  if (device.set_aside_bytes != 0) {
    notes.push_back("GPUTEST_DEVICE_MEMORY: every decision is as on a device of " + to_string(device.device.total));
  }
  return notes;
}

Json users_json(const DeviceReport& device) {
  if (!device.users) {
    return nullptr;
  }
  auto users = Json::array();
  for (const auto& user : *device.users) {
    const Json bytes = user.used_bytes ? Json(*user.used_bytes) : Json(nullptr);
    users.push_back(Json{{"pid", user.pid}, {"used_bytes", bytes}, {"who", user.who}});
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

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

} // namespace

std::string details_text(const DevicesReport& report) {
  std::string remarks;
  for (const auto& device : report.devices) {
    for (const auto& user : device.users.value_or(std::vector<DeviceUser>{})) {
      remarks +=
          fmt::format("{:>5}  used by {} (pid {}, {})\n", device.index, user.who.empty() ? "a stranger" : user.who,
                      user.pid, user.used_bytes ? to_string(Bytes{*user.used_bytes}) : "unknown bytes");
    }
    for (const auto& note : notes_of(device)) {
      remarks += fmt::format("{:>5}  {}\n", device.index, note);
    }
  }
  return abilities(report) + (remarks.empty() ? "" : "\n" + remarks);
}

nlohmann::ordered_json details_json(const DevicesReport& report, const DeviceReport& device) {
  const auto& facts = device.facts;
  return Json{{"sm", or_null(facts.sm)},
              {"memory_pools", or_null(facts.memory_pools)},
              {"managed_memory", or_null(facts.managed_memory)},
              {"concurrent_managed_access", or_null(facts.concurrent_managed_access)},
              {"cooperative_launch", or_null(facts.cooperative_launch)},
              {"peer_uuids", peers_json(report, device)},
              {"driver_model", to_string(facts.driver_model)},
              {"compute_mode", to_string(facts.compute_mode)},
              {"shares_host_memory", facts.shares_host_memory},
              {"lists_processes", facts.lists_processes},
              {"users", users_json(device)},
              {"notes", notes_of(device)}};
}

} // namespace gputest::cli
