#include "cli/devices_report.hpp"

#include "cli/device_details.hpp"
#include "cli/json_text.hpp"
#include "cli/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gputest::cli {

namespace {

std::string size_text(std::uint64_t bytes) { return bytes == 0 ? "-" : to_string(Bytes{bytes}); }

std::string ledger_text(const DeviceReport& device) {
  if (device.processes == 0) {
    return "-";
  }
  return fmt::format("{} by {}", size_text(device.context_bytes + device.leased_bytes), device.processes);
}

Bytes whole_memory(const DeviceReport& device) { return device.device.total + Bytes{device.set_aside_bytes}; }

std::string memory_text(const DeviceReport& device) {
  const std::string total = to_string(device.device.total);
  return device.set_aside_bytes == 0 ? total : total + " of " + to_string(whole_memory(device));
}

} // namespace

bool has_usable_device(const DevicesReport& report) {
  return std::any_of(report.devices.begin(), report.devices.end(),
                     [](const DeviceReport& d) { return d.visible && policy::why_unusable(d.facts).empty(); });
}

std::string to_text(const DevicesReport& report) {
  if (report.devices.empty()) {
    return "no GPU: " + report.why_none + "\n";
  }
  Table table{{{"INDEX", Align::right},
               {"UUID"},
               {"NAME"},
               {"MEMORY", Align::right},
               {"IN USE", Align::right},
               {"ON LEDGER", Align::right},
               {"STRANGERS", Align::right},
               {"FREE FOR NEXT", Align::right},
               {"VISIBLE"}}};
  for (const auto& device : report.devices) {
    table.add_row({std::to_string(device.index), device.device.uuid, device.device.name, memory_text(device),
                   size_text(device.used_bytes), ledger_text(device), size_text(device.stranger_bytes),
                   size_text(device.free_bytes), device.visible ? "yes" : "no"});
  }
  std::string text = table.to_string() + "\n" + details_text(report) + "\n" + report.origin + "\n";
  text += report.left_out.empty() ? "" : report.left_out + "\n";
  if (!has_usable_device(report)) {
    text += "no GPU for tests: CUDA_VISIBLE_DEVICES hides all that can be used\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const DevicesReport& report) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const auto& device : report.devices) {
    devices.push_back({{"index", device.index},
                       {"uuid", device.device.uuid},
                       {"name", device.device.name},
                       {"simulated", device.device.simulated},
                       {"mig_slice", device.facts.mig},
                       {"visible", device.visible},
                       {"why_unusable", policy::why_unusable(device.facts)},
                       {"total_bytes", whole_memory(device).count()},
                       {"reserved_bytes", device.reserved_bytes},
                       {"used_bytes", device.used_bytes},
                       {"ledger_processes", device.processes},
                       {"ledger_context_bytes", device.context_bytes},
                       {"ledger_leased_bytes", device.leased_bytes},
                       {"stranger_bytes", device.stranger_bytes},
                       {"free_for_next_bytes", device.free_bytes},
                       {"limit_bytes", device.device.total.count()}});
    devices.back().update(details_json(report, device));
  }
  return {{"version", json_version},
          {"origin", report.origin},
          {"why_none", report.why_none},
          {"left_out", report.left_out},
          {"devices", devices}};
}

ExitCode exit_code_of(const DevicesReport& report) {
  return report.gpu_required && !has_usable_device(report) ? ExitCode::no_gpu : ExitCode::done;
}

} // namespace gputest::cli
