#include "session/allowed_devices.hpp"

#include "policy/visible_devices.hpp"
#include "system/environment.hpp"

#include <string>

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

std::vector<std::size_t> allowed_devices(const devices::DeviceList& machine) {
  std::vector<std::string> uuids;
  uuids.reserve(machine.devices().size());
  for (const auto& device : machine.devices()) {
    uuids.push_back(device.uuid);
  }
  auto visible = policy::visible_devices(system::read_variable("CUDA_VISIBLE_DEVICES"), uuids);
  std::vector<std::string> visible_uuids;
  visible_uuids.reserve(visible.size());
  for (const std::size_t index : visible) {
    visible_uuids.push_back(uuids[index]);
  }
  const auto allocation =
      policy::ctest_allocation(system::read_variable("CTEST_RESOURCE_GROUP_COUNT"), resource_groups(), visible_uuids);
  if (!allocation) {
    return visible;
  }
  std::vector<std::size_t> allocated;
  allocated.reserve(allocation->size());
  for (const std::size_t index : *allocation) {
    allocated.push_back(visible[index]);
  }
  return allocated;
}

} // namespace gputest::session
