#include "devices/real_devices.hpp"

#include "system/nvml.hpp"

#include <gputest/bytes.hpp>

#include <algorithm>
#include <utility>

namespace gputest::devices {

namespace {

// A context with its first kernel takes 656 MiB of an H200, a little more with a larger module. Small devices have
// fewer multiprocessors to keep local memory for, and a context takes less there.
constexpr Bytes largest_usual_overhead{768ULL << 20U};
constexpr std::uint64_t usual_overhead_share = 16;

class RealDevices final : public DeviceList {
public:
  explicit RealDevices(system::Nvml nvml) : nvml_{std::move(nvml)} {
    for (const auto& device : nvml_.devices()) {
      devices_.push_back({device.uuid, device.name, Bytes{device.total_bytes}, false});
    }
  }

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }

  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t index) const override {
    return nvml_.devices().at(index).reserved_bytes;
  }

  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t index) const override {
    return std::min(largest_usual_overhead.count(), devices_.at(index).total.count() / usual_overhead_share);
  }

  [[nodiscard]] MemoryUse memory(std::size_t index) const override {
    MemoryUse use;
    // A device that no longer answers has no room for anybody.
    use.used_bytes = nvml_.used_bytes(index).value_or(devices_.at(index).total.count() - reserved_bytes(index));
    if (const auto processes = nvml_.processes(index)) {
      use.processes.emplace();
      for (const auto& process : *processes) {
        use.processes->push_back({process.pid, process.used_bytes});
      }
    }
    return use;
  }

  [[nodiscard]] std::string origin() const override {
    return nvml_.driver_version().empty() ? "driver of unknown version" : "driver " + nvml_.driver_version();
  }

private:
  system::Nvml nvml_;
  std::vector<Device> devices_;
};

} // namespace

std::unique_ptr<DeviceList> open_real(std::string& why_none) {
  std::string why;
  auto nvml = system::Nvml::open(why);
  if (!nvml) {
    why_none = why;
    return nullptr;
  }
  auto list = std::make_unique<RealDevices>(std::move(*nvml));
  if (list->devices().empty()) {
    why_none = why.empty() ? "the NVIDIA driver (" + list->origin() + ") shows no GPU" : why;
  }
  return list;
}

} // namespace gputest::devices
