// SPDX-License-Identifier: BSD-3-Clause
#include "cli/resource_spec.hpp"

#include "policy/visible_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gputest::cli {

namespace {

constexpr std::uint64_t mebibyte = 1ULL << 20U;

/// A device as CTest knows it, in MiB.
struct Resource {
  std::string id;
  std::uint64_t total = 0;
  std::uint64_t free = 0;
  std::uint64_t context = 0; ///< rounded up
  bool slice = false;
};

/// Those of which tests can have something.
std::vector<Resource> resources_of(const DevicesReport& report) {
  std::vector<Resource> resources;
  for (const auto& device : report.devices) {
    const std::uint64_t bytes = device.device.total.count();
    const std::uint64_t total = bytes - std::min(bytes, device.reserved_bytes);
    const std::uint64_t free = total - std::min(total, device.external_bytes);
    if (device.visible && policy::why_unusable(device.facts).empty() && free >= mebibyte) {
      resources.push_back({policy::resource_id_of(device.device.uuid), total / mebibyte, free / mebibyte,
                           (device.next_context_bytes + mebibyte - 1) / mebibyte, device.facts.mig});
    }
  }
  return resources;
}

} // namespace

std::string resource_spec(const DevicesReport& report) {
  std::string devices;
  for (const auto& resource : resources_of(report)) {
    devices += fmt::format("{}\n    {{\"id\": \"{}\", \"slots\": {}}}", devices.empty() ? "" : ",", resource.id,
                           resource.free);
  }
  if (devices.empty()) {
    return "";
  }
  return fmt::format("{{\"version\": {{\"major\": 1, \"minor\": 0}}, \"local\": [{{\"{}\": [{}\n]}}]}}\n",
                     resource_type, devices);
}

std::string resource_facts(const DevicesReport& report, const std::string& file) {
  std::string devices;
  std::uint64_t context = 0;
  for (const auto& resource : resources_of(report)) {
    devices += fmt::format(" \"{} {} {}\"", resource.total, resource.free, resource.slice ? "slice" : "whole");
    context = std::max(context, resource.context);
  }
  return fmt::format("set(gputest_resource_spec \"{}\")\nset(gputest_devices{})\nset(gputest_context_mib {})\n", file,
                     devices, context);
}

} // namespace gputest::cli
