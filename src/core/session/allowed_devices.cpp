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
  std::vector<std::string> before;
  std::vector<std::string> shown;
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
  for (const std::size_t index : allowed.visible) {
    allowed.visible_uuids.push_back(uuids[index]);
  }
  // Below another lease the numbers are those before that lease's devices were shown.
  const auto& groups = settings.resource_groups;
  const auto allocation = settings.lease_of == settings::lease_above
                              ? policy::ctest_allocation(settings.resource_group_count, groups, allowed.visible_uuids)
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

void show_only(const std::vector<std::string>& uuids, const std::vector<std::string>& visible_before) {
  std::string list;
  for (const auto& uuid : uuids) {
    list += (list.empty() ? "" : ",") + uuid;
  }
  os::set_variable("CUDA_VISIBLE_DEVICES", list);
  numbering() = {visible_before, uuids};
  renumber_allocation();
}

void renumber_allocation() {
  const auto& [before, shown] = numbering();
  if (before.empty()) {
    return;
  }
  for (const auto& name : settings::variables_of_allocation(os::read_variable)) {
    os::set_variable(name.c_str(), policy::renumbered_group(os::variable(name.c_str()), before, shown));
  }
}

} // namespace gputest::session
