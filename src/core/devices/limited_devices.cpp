// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/limited_devices.hpp"

#include <algorithm>
#include <utility>

namespace gputest::devices {

namespace {

class LimitedDevices final : public DeviceList {
public:
  LimitedDevices(std::unique_ptr<DeviceList> inner, Bytes limit)
      : inner_{std::move(inner)}, devices_{inner_->devices()} {
    for (auto& device : devices_) {
      device.total = std::min(device.total, limit);
    }
  }

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t index) const override { return inner_->reserved_bytes(index); }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t index) const override {
    return inner_->usual_overhead_bytes(index);
  }
  [[nodiscard]] std::uint64_t used_bytes(std::size_t index) const override { return inner_->used_bytes(index); }
  [[nodiscard]] MemoryUse memory(std::size_t index) const override { return inner_->memory(index); }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t index, AskDriver ask) const override {
    return inner_->facts(index, ask);
  }
  [[nodiscard]] std::uint64_t set_aside_bytes(std::size_t index) const override {
    return (inner_->devices().at(index).total - devices_.at(index).total).count();
  }
  [[nodiscard]] bool is_open() const override { return inner_->is_open(); }
  [[nodiscard]] std::string left_out() const override { return inner_->left_out(); }
  [[nodiscard]] std::string origin() const override { return inner_->origin(); }

private:
  std::unique_ptr<DeviceList> inner_;
  std::vector<Device> devices_;
};

} // namespace

std::unique_ptr<DeviceList> limit_devices(std::unique_ptr<DeviceList> devices, Bytes limit) {
  return std::make_unique<LimitedDevices>(std::move(devices), limit);
}

} // namespace gputest::devices
