#include "devices/simulated.hpp"

#include "devices/simulated_memory.hpp"

#include <memory>

namespace gputest::devices {

namespace {

class Simulated : public DeviceList {
public:
  Simulated(const policy::SimulatedDevices& setting, const std::string& folder)
      : context_{setting.context}, memory_{std::make_unique<SimulatedMemory>(setting, folder)} {
    for (const auto& uuid : simulated_uuids(setting)) {
      devices_.push_back({uuid, "simulated device", setting.size, true});
    }
  }

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t /*index*/) const override { return 0; }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t /*index*/) const override { return context_.count(); }
  [[nodiscard]] MemoryUse memory(std::size_t index) const override { return memory_->use(index); }
  [[nodiscard]] std::string origin() const override { return "simulated"; }

private:
  Bytes context_;
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
  for (int i = 0; i < setting.count; ++i) {
    uuids.push_back("SIM-" + std::to_string(setting.count) + "x" + size + "-" + std::to_string(i));
  }
  return uuids;
}

} // namespace gputest::devices
