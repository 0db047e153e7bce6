// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_driver.hpp"

#include "core/devices/cuda/driver_attributes.hpp"
#include "core/devices/cuda/nvml.hpp"
#include "core/os/host.hpp"

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
  RealDevices(std::unique_ptr<Nvml> nvml, std::string left_out)
      : nvml_{std::move(nvml)}, left_out_{std::move(left_out)} {
    const auto host = os::read_host_memory().value_or(os::HostMemory{});
    for (const auto& device : nvml_->devices()) {
      const auto node = device.numa_node ? os::read_node_memory(*device.numa_node) : std::nullopt;
      const auto place = policy::memory_place(device.total_bytes, device.reserved_bytes, host.total_bytes,
                                              node ? std::optional{node->total_bytes} : std::nullopt);
      places_.push_back(place);
      const bool is_hosts = place == policy::MemoryPlace::host;
      devices_.push_back({device.uuid, device.name, Bytes{is_hosts ? host.total_bytes : device.total_bytes}, false});
    }
  }

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }

  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t index) const override {
    return nvml_->devices().at(index).reserved_bytes;
  }

  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t index) const override {
    return std::min(largest_usual_overhead.count(), devices_.at(index).total.count() / usual_overhead_share);
  }

  [[nodiscard]] MemoryUse memory(std::size_t index) const override {
    return {used_bytes(index), nvml_->processes(index)};
  }

  [[nodiscard]] policy::DeviceFacts facts(std::size_t index, AskDriver ask) const override {
    const auto& device = nvml_->devices().at(index);
    policy::DeviceFacts facts;
    facts.sm = device.sm;
    facts.mig = device.mig_slice;
    facts.compute_mode = device.compute_mode;
    facts.shares_host_memory = places_.at(index) == policy::MemoryPlace::host;
    facts.lists_processes = nvml_->processes(index).has_value();
    if (ask == AskDriver::yes) {
      add_attributes(facts, device.uuid);
    }
    return facts;
  }

  [[nodiscard]] std::string left_out() const override { return left_out_; }

  [[nodiscard]] std::string origin() const override {
    return nvml_->driver_version().empty() ? "driver of unknown version" : "driver " + nvml_->driver_version();
  }

  [[nodiscard]] std::uint64_t used_bytes(std::size_t index) const override {
    const std::uint64_t all = devices_.at(index).total.count();
    switch (places_.at(index)) {
    case policy::MemoryPlace::host: {
      const auto host = os::read_host_memory();
      return host ? all - std::min(all, host->available_bytes) : all;
    }
    case policy::MemoryPlace::numa_node: // NVML counts files that the host caches there, too
      if (const auto node = os::read_node_memory(*nvml_->devices().at(index).numa_node)) {
        return node->total_bytes - node->available_bytes;
      }
      break;
    case policy::MemoryPlace::device:
      break;
    }
    // A device that no longer answers has no room for any process.
    return nvml_->used_bytes(index).value_or(all - std::min(all, reserved_bytes(index)));
  }

private:
  /// Adds what the driver itself says of a device; all of them are asked about at once, and only once.
  void add_attributes(policy::DeviceFacts& facts, const std::string& uuid) const {
    if (!attributes_) {
      std::vector<std::string> uuids;
      for (const auto& device : devices_) {
        uuids.push_back(device.uuid);
      }
      attributes_ = ask_driver(uuids, why_unknown_);
    }
    const auto found = std::find_if(attributes_->begin(), attributes_->end(),
                                    [&](const DriverAttributes& device) { return device.uuid == uuid; });
    if (found == attributes_->end()) {
      facts.why_unknown = why_unknown_;
      return;
    }
    facts.sm = facts.sm.value_or(found->sm);
    facts.memory_pools = found->memory_pools;
    facts.managed_memory = found->managed_memory;
    facts.concurrent_managed_access = found->concurrent_managed_access;
    facts.cooperative_launch = found->cooperative_launch;
    facts.shares_host_memory = facts.shares_host_memory || found->integrated;
    facts.peers.emplace();
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (std::find(found->peers.begin(), found->peers.end(), devices_[i].uuid) != found->peers.end()) {
        facts.peers->push_back(i);
      }
    }
  }

  std::unique_ptr<Nvml> nvml_;
  std::string left_out_;
  std::vector<Device> devices_;
  std::vector<policy::MemoryPlace> places_;                         ///< of devices_, by the same index
  mutable std::optional<std::vector<DriverAttributes>> attributes_; ///< once the driver was asked
  mutable std::string why_unknown_;
};

} // namespace

std::unique_ptr<DeviceList> open_real(std::string& why_none) {
  std::string why;
  auto nvml = Nvml::open(why);
  if (!nvml) {
    why_none = why;
    return nullptr;
  }
  auto list = std::make_unique<RealDevices>(std::move(nvml), why);
  if (list->devices().empty()) {
    why_none = why.empty() ? "the NVIDIA driver (" + list->origin() + ") shows no GPU" : why;
  }
  return list;
}

} // namespace gputest::devices
