#include "session/allowed_devices.hpp"

#include "policy/allowed_list.hpp"
#include "policy/visible_devices.hpp"
#include "system/environment.hpp"

namespace gputest::session {

namespace {

std::vector<std::string> resource_groups() {
  std::vector<std::string> groups;
  while (const auto group =
             system::read_variable(("CTEST_RESOURCE_GROUP_" + std::to_string(groups.size()) + "_GPUS").c_str())) {
    groups.push_back(*group);
  }
  return groups;
}

} // namespace

AllowedDevices allowed_devices(const devices::DeviceList& machine) {
  std::vector<std::string> uuids;
  uuids.reserve(machine.devices().size());
  for (const auto& device : machine.devices()) {
    uuids.push_back(device.uuid);
  }
  AllowedDevices allowed;
  const auto list = policy::allowed_list(system::read_variable, uuids.size());
  allowed.restriction = list ? list->variable + "='" + list->value + "'" : "CUDA_VISIBLE_DEVICES (not set)";
  allowed.visible = policy::visible_devices(list ? std::optional{list->value} : std::nullopt, uuids);
  std::vector<std::string> visible_uuids;
  visible_uuids.reserve(allowed.visible.size());
  for (const std::size_t index : allowed.visible) {
    visible_uuids.push_back(uuids[index]);
  }
  const auto groups = resource_groups();
  const auto allocation =
      policy::ctest_allocation(system::read_variable("CTEST_RESOURCE_GROUP_COUNT"), groups, visible_uuids);
  if (!allocation) {
    allowed.indices = allowed.visible;
    return allowed;
  }
  for (const std::size_t index : *allocation) {
    allowed.indices.push_back(allowed.visible[index]);
  }
  if (allowed.indices.size() < groups.size()) {
    allowed.note = "CTest has put its " + std::to_string(groups.size()) + " resource groups on " +
                   std::to_string(allowed.indices.size()) + (allowed.indices.size() == 1 ? " device" : " devices") +
                   ", which it may do; ask for as many slots a group as keep two from one device";
  }
  return allowed;
}

} // namespace gputest::session
