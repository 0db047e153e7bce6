// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/allowed_devices.hpp"

#include "core/policy/text.hpp"
#include "core/policy/visible_devices.hpp"
#include "core/settings/settings.hpp"

namespace gputest::session {

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
  std::vector<std::string> visible_uuids;
  visible_uuids.reserve(allowed.visible.size());
  for (const std::size_t index : allowed.visible) {
    visible_uuids.push_back(uuids[index]);
  }
  const auto& groups = settings.resource_groups;
  const auto allocation = policy::ctest_allocation(settings.resource_group_count, groups, visible_uuids);
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

} // namespace gputest::session
