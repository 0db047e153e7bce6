// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/leased_devices.hpp"

#include "core/devices/cuda/real_devices.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace gputest::devices {

namespace {

class LeasedDevices final : public DeviceList {
public:
  explicit LeasedDevices(std::vector<Device> devices) : devices_{std::move(devices)} {}

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }

  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t index) const override {
    const auto real = real_index(index);
    return real ? real_->reserved_bytes(*real) : 0;
  }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t index) const override {
    const auto real = real_index(index);
    return real ? real_->usual_overhead_bytes(*real) : 0;
  }
  [[nodiscard]] MemoryUse memory(std::size_t index) const override {
    const auto real = real_index(index);
    return real ? real_->memory(*real) : MemoryUse{devices_.at(index).total.count(), std::nullopt};
  }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t index, AskDriver ask) const override {
    const auto real = real_index(index);
    auto facts = real ? real_->facts(*real, ask) : policy::DeviceFacts{};
    if (facts.peers) { // of the machine's devices
      std::vector<std::size_t> peers;
      for (std::size_t other = 0; other < devices_.size(); ++other) {
        const auto real_other = real_index(other);
        if (real_other && std::find(facts.peers->begin(), facts.peers->end(), *real_other) != facts.peers->end()) {
          peers.push_back(other);
        }
      }
      facts.peers = std::move(peers);
    }
    if (!real) {
      facts.why_unknown = why_none_.empty() ? "NVML does not show the device any more" : why_none_;
    }
    return facts;
  }
  [[nodiscard]] std::string origin() const override {
    open();
    return real_ ? real_->origin() : why_none_;
  }
  [[nodiscard]] bool is_open() const override {
    const std::lock_guard guard{mutex_};
    return opened_;
  }

private:
  void open() const {
    const std::lock_guard guard{mutex_};
    if (!opened_) {
      opened_ = true;
      real_ = open_real(why_none_);
    }
  }

  [[nodiscard]] std::optional<std::size_t> real_index(std::size_t index) const {
    open();
    if (!real_) {
      return std::nullopt;
    }
    const auto& all = real_->devices();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Device& device) { return device.uuid == devices_.at(index).uuid; });
    return found == all.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - all.begin())};
  }

  std::vector<Device> devices_;
  mutable std::mutex mutex_;
  mutable bool opened_ = false;
  mutable std::unique_ptr<DeviceList> real_;
  mutable std::string why_none_;
};

} // namespace

std::unique_ptr<DeviceList> leased_devices(std::vector<Device> devices) {
  return std::make_unique<LeasedDevices>(std::move(devices));
}

} // namespace gputest::devices
