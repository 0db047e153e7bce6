#include "cli/devices_report.hpp"

#include "cli/json_text.hpp"
#include "cli/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gputest::cli {

namespace {

bool is_mig_slice(const Device& device) { return device.uuid.compare(0, 4, "MIG-") == 0; }

std::string size_text(std::uint64_t bytes) { return bytes == 0 ? "-" : to_string(Bytes{bytes}); }

std::string ledger_text(const DeviceReport& device) {
  if (device.processes == 0) {
    return "-";
  }
  return fmt::format("{} by {}", size_text(device.context_bytes + device.leased_bytes), device.processes);
}

} // namespace

bool has_usable_device(const DevicesReport& report) {
  return std::any_of(report.devices.begin(), report.devices.end(), [](const DeviceReport& d) { return d.visible; });
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
    table.add_row({std::to_string(device.index), device.device.uuid, device.device.name, to_string(device.device.total),
                   size_text(device.used_bytes), ledger_text(device), size_text(device.stranger_bytes),
                   size_text(device.free_bytes), device.visible ? "yes" : "no"});
  }
  std::string text = table.to_string() + "\n" + report.origin + "\n";
  if (!has_usable_device(report)) {
    text += "no GPU for tests: CUDA_VISIBLE_DEVICES hides all of them\n";
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
                       {"mig_slice", is_mig_slice(device.device)},
                       {"visible", device.visible},
                       {"total_bytes", device.device.total.count()},
                       {"reserved_bytes", device.reserved_bytes},
                       {"used_bytes", device.used_bytes},
                       {"ledger_processes", device.processes},
                       {"ledger_context_bytes", device.context_bytes},
                       {"ledger_leased_bytes", device.leased_bytes},
                       {"stranger_bytes", device.stranger_bytes},
                       {"free_for_next_bytes", device.free_bytes}});
  }
  return {{"version", json_version}, {"origin", report.origin}, {"why_none", report.why_none}, {"devices", devices}};
}

ExitCode exit_code_of(const DevicesReport& report) {
  return report.gpu_required && !has_usable_device(report) ? ExitCode::no_gpu : ExitCode::done;
}

} // namespace gputest::cli
