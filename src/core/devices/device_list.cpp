// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/device_list.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/devices/simulated/simulated.hpp"
#include "core/settings/settings.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace gputest::devices {

namespace {

/// Of a machine without any: there is no index that could be asked for.
class NoDevices final : public DeviceList {
public:
  [[nodiscard]] const std::vector<Device>& devices() const override { return none_; }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t /*index*/) const override { return 0; }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t /*index*/) const override { return 0; }
  [[nodiscard]] MemoryUse memory(std::size_t /*index*/) const override { return {}; }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t /*index*/, AskDriver /*ask*/) const override { return {}; }
  [[nodiscard]] std::string origin() const override { return "no devices"; }

private:
  std::vector<Device> none_;
};

} // namespace

std::unique_ptr<DeviceList> open_devices(const Settings& settings, std::string& why_none) {
  why_none.clear();
  const auto setting = settings::parse_devices(settings.devices);
  std::unique_ptr<DeviceList> list;
  if (const auto* const simulated = std::get_if<policy::SimulatedDevices>(&setting)) {
    list = open_simulated(*simulated, settings);
  } else if (std::holds_alternative<settings::NoDevices>(setting)) {
    why_none = "GPUTEST_DEVICES=none asks for none";
  } else {
    list = open_real(why_none, settings);
  }
  return list ? std::move(list) : std::make_unique<NoDevices>();
}

Bytes limited(Bytes total, const Settings& settings) { return std::min(total, settings.device_memory.value_or(total)); }

ThisProcess& this_process(const Settings& settings) {
  const auto devices = settings::parse_devices(settings.devices);
  if (std::holds_alternative<policy::SimulatedDevices>(devices)) {
    return simulated_process();
  }
  return cuda_process();
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
