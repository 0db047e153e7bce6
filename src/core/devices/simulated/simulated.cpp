// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/simulated/simulated.hpp"

#include "core/devices/simulated/simulated_memory.hpp"
#include "core/os/host.hpp"

#include <algorithm>
#include <memory>

namespace gputest::devices {

namespace {

class Simulated : public DeviceList {
public:
  Simulated(const policy::SimulatedDevices& setting, const std::string& folder)
      : setting_{setting}, memory_{std::make_unique<SimulatedMemory>(setting, folder)} {
    for (const auto& uuid : simulated_uuids(setting)) {
      devices_.push_back({uuid, "simulated device", setting.size, true});
    }
  }

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t /*index*/) const override { return 0; }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t /*index*/) const override {
    return setting_.context.count();
  }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t /*index*/, AskDriver /*ask*/) const override {
    return setting_.facts;
  }

  [[nodiscard]] MemoryUse memory(std::size_t index) const override {
    MemoryUse use = memory_->use(index);
    if (setting_.facts.shares_host_memory) {
      const std::uint64_t size = setting_.size.count();
      const auto host = os::read_host_memory().value_or(os::HostMemory{});
      use.used_bytes = std::max(use.used_bytes, size - std::min(size, host.available_bytes));
    }
    if (!setting_.facts.lists_processes) {
      use.processes.reset();
    } else if (setting_.facts.driver_model == policy::DriverModel::wddm) {
      for (auto& process : *use.processes) {
        process.used_bytes.reset(); // Windows manages the memory, and NVML does not know whose is whose
      }
    }
    return use;
  }

  [[nodiscard]] std::string origin() const override { return "simulated"; }

private:
  policy::SimulatedDevices setting_;
  std::vector<Device> devices_;
  std::unique_ptr<SimulatedMemory> memory_;
};

} // namespace

std::unique_ptr<DeviceList> open_simulated(const policy::SimulatedDevices& setting, const std::string& folder) {
  return std::make_unique<Simulated>(setting, folder);
}

std::vector<std::string> simulated_uuids(const policy::SimulatedDevices& setting) {
  constexpr std::uint64_t mebibyte = 1U << 20U;
  const std::uint64_t bytes = setting.size.count();
  const std::string size =
      bytes % mebibyte == 0 ? std::to_string(bytes / mebibyte) + "MiB" : std::to_string(bytes) + "B";
  std::vector<std::string> uuids;
  uuids.reserve(static_cast<std::size_t>(setting.count));
  for (int i = 0; i < setting.count; ++i) {
    uuids.push_back("SIM-" + std::to_string(setting.count) + "x" + size + "-" +
                    (setting.kind.empty() ? "" : setting.kind + "-") + std::to_string(i));
  }
  return uuids;
}

} // namespace gputest::devices
