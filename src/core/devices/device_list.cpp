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

/// The same devices, each of them with at most so much memory, and for so many processes, as the settings say. Without
/// any, there is no index that could be asked for.
class LimitedDevices final : public DeviceList {
public:
  LimitedDevices(std::unique_ptr<DeviceList> inner, const Settings& settings)
      : inner_{std::move(inner)}, devices_{inner_ ? inner_->devices() : std::vector<Device>{}},
        processes_allowed_{settings.processes_per_device} {
    for (auto& device : devices_) {
      device.total = std::min(device.total, settings.device_memory.value_or(device.total));
    }
  }

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t index) const override {
    return inner_of(index).reserved_bytes(index);
  }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t index) const override {
    return inner_of(index).usual_overhead_bytes(index);
  }
  [[nodiscard]] std::uint64_t used_bytes(std::size_t index) const override { return inner_of(index).used_bytes(index); }
  [[nodiscard]] MemoryUse memory(std::size_t index) const override { return inner_of(index).memory(index); }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t index, AskDriver ask) const override {
    auto facts = inner_of(index).facts(index, ask);
    facts.processes_allowed = processes_allowed_;
    return facts;
  }
  [[nodiscard]] std::uint64_t set_aside_bytes(std::size_t index) const override {
    return (inner_of(index).devices().at(index).total - devices_.at(index).total).count();
  }
  [[nodiscard]] std::string left_out() const override { return inner_ ? inner_->left_out() : ""; }
  [[nodiscard]] std::string origin() const override { return inner_ ? inner_->origin() : "no devices"; }

private:
  /// Throws std::out_of_range if there is no such device.
  [[nodiscard]] const DeviceList& inner_of(std::size_t index) const {
    static_cast<void>(devices_.at(index));
    return *inner_;
  }

  std::unique_ptr<DeviceList> inner_; ///< null: there are no devices
  std::vector<Device> devices_;
  int processes_allowed_;
};

} // namespace

std::unique_ptr<DeviceList> open_devices(const Settings& settings, std::string& why_none) {
  why_none.clear();
  const auto setting = settings::parse_devices(settings.devices);
  std::unique_ptr<DeviceList> list;
  if (const auto* const simulated = std::get_if<policy::SimulatedDevices>(&setting)) {
    list = open_simulated(*simulated, settings.folder);
  } else if (std::holds_alternative<settings::NoDevices>(setting)) {
    why_none = "GPUTEST_DEVICES=none asks for none";
  } else {
    list = open_real(why_none);
  }
  return std::make_unique<LimitedDevices>(std::move(list), settings);
}

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
