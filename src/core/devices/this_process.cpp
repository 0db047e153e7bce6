// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/this_process.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/devices/simulated/simulated.hpp"
#include "core/settings/settings.hpp"

#include <variant>

namespace gputest::devices {

MemorySource& MemorySource::instance() {
  static MemorySource& source = this_process(settings::of_process()).memory();
  return source;
}

ThisProcess& this_process(const Settings& settings) {
  const auto devices = settings::parse_devices(settings.devices);
  return std::holds_alternative<policy::SimulatedDevices>(devices) ? simulated_process() : cuda_process();
}

std::string change_between(const DeviceState& before, const DeviceState& after) {
  if (before.current && after.current && before.current != after.current) {
    return "device " + std::to_string(*after.current) + " is the current one, in place of " +
           std::to_string(*before.current);
  }
  for (const auto& [device, limits] : before.limits) {
    const auto of_device = after.limits.find(device);
    if (of_device == after.limits.end()) {
      continue;
    }
    for (const auto& [name, value] : limits) {
      const auto now = of_device->second.find(name);
      if (now != of_device->second.end() && now->second != value) {
        return name + " of device " + std::to_string(device) + " is " + std::to_string(now->second) + ", in place of " +
               std::to_string(value);
      }
    }
  }
  return {};
}

} // namespace gputest::devices
