// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/allowed_devices.hpp"

#include "core/os/environment.hpp"
#include "core/policy/text.hpp"
#include "core/policy/visible_devices.hpp"
#include "core/settings/settings.hpp"

namespace gputest::session {

namespace {

/// The devices that CTest's ids count, and those of them that CUDA shows.
struct Numbering {
  std::vector<std::string> counted;
  std::vector<std::string> shown;
  bool stays = false;
};

Numbering& numbering() {
  static Numbering numbering;
  return numbering;
}

} // namespace

AllowedDevices allowed_devices(const devices::DeviceList& machine, const Settings& settings) {
  std::vector<std::string> uuids;
  uuids.reserve(machine.devices().size());
  for (const auto& device : machine.devices()) {
    uuids.push_back(device.uuid);
  }
  AllowedDevices allowed;
  const auto list = settings::restriction_of(settings, uuids.size());
  allowed.restriction = list ? list->variable + "='" + list->value + "'" : "CUDA_VISIBLE_DEVICES (not set)";
  allowed.visible = policy::visible_devices(list ? std::optional{list->value} : std::nullopt, uuids);
  const auto& groups = settings.resource_groups;
  allowed.counted = settings.allocation_counts;
  if (allowed.counted.empty()) {
    for (const std::size_t index : allowed.visible) {
      allowed.counted.push_back(uuids[index]);
    }
  }
  // A process above that has kept CTest's numbers has chosen of its allocation already.
  const auto allocation = settings.allocation_counts.empty()
                              ? policy::ctest_allocation(settings.resource_group_count, groups, allowed.counted)
                              : std::nullopt;
  if (!allocation) {
    allowed.indices = allowed.visible;
    return allowed;
  }
  for (const std::size_t index : *allocation) {
    allowed.indices.push_back(allowed.visible[index]);
  }
  if (allowed.indices.size() < groups.size()) {
    allowed.note = "CTest has put its " + std::to_string(groups.size()) + " resource groups on " +
                   policy::counted(allowed.indices.size(), "device") +
                   ", which it may do; ask for as many slots a group as keep two from one device";
  }
  return allowed;
}

void show_only(const std::vector<std::string>& uuids, const std::vector<std::string>& counted) {
  os::set_variable("CUDA_VISIBLE_DEVICES", policy::joined(uuids, ","));
  numbering().counted = counted;
  numbering().shown = uuids;
  renumber_allocation();
}

void keep_allocation() { numbering().stays = true; }

void renumber_allocation() {
  const auto& [counted, shown, stays] = numbering();
  const auto names = settings::variables_of_allocation(os::read_variable);
  if (counted.empty() || names.empty()) {
    return;
  }
  std::vector<std::string> groups;
  for (const auto& name : names) {
    groups.push_back(os::variable(name.c_str()));
    if (!stays) {
      os::set_variable(name.c_str(), policy::renumbered_group(groups.back(), counted, shown));
    }
  }
  if (stays) {
    os::set_variable("GPUTEST_ALLOCATION", settings::allocation_text(groups, counted));
  } else {
    os::remove_variable("GPUTEST_ALLOCATION");
  }
}

} // namespace gputest::session
