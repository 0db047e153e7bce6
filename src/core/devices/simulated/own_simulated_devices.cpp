// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/simulated/own_simulated_devices.hpp"

#include "core/devices/simulated/simulated.hpp"
#include "core/os/environment.hpp"
#include "core/policy/visible_devices.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <atomic>

namespace gputest::devices {

namespace {

std::atomic<bool> made{false};

} // namespace

OwnSimulatedDevices& OwnSimulatedDevices::instance(const char* who) {
  // Never destroyed: memory may be freed by a global variable's destructor.
  static OwnSimulatedDevices& devices = *[who] {
    const auto settings = settings::of_process();
    const auto chosen = settings::parse_devices(settings.devices);
    if (const auto* setting = std::get_if<policy::SimulatedDevices>(&chosen)) {
      return new OwnSimulatedDevices{*setting, settings.folder}; // NOLINT(cppcoreguidelines-owning-memory)
    }
    throw InvalidSetting{std::string{who} + " was asked for, but the devices are not simulated; set "
                                            "GPUTEST_DEVICES=simulated:<n>x<size>, or allocate through CUDA"};
  }();
  return devices;
}

bool OwnSimulatedDevices::in_use() { return made; }

OwnSimulatedDevices::OwnSimulatedDevices(const policy::SimulatedDevices& setting, const std::string& folder)
    : facts_{setting.facts}, all_uuids_{simulated_uuids(setting)}, size_{setting.size}, memory_{setting, folder},
      visible_{policy::visible_devices(os::read_variable("CUDA_VISIBLE_DEVICES"), all_uuids_)} {
  made = true;
}

void OwnSimulatedDevices::free(int index, Bytes bytes) noexcept {
  memory_.free(visible_[static_cast<std::size_t>(index)], bytes);
}

bool OwnSimulatedDevices::has_memory_pools(int index) const {
  static_cast<void>(device(index));
  return facts_.memory_pools.value_or(false);
}

bool OwnSimulatedDevices::has_managed_memory(int index) const {
  static_cast<void>(device(index));
  return facts_.managed_memory.value_or(false);
}

std::vector<std::string> OwnSimulatedDevices::uuids() const {
  std::vector<std::string> uuids;
  for (const std::size_t device : visible_) {
    uuids.push_back(all_uuids_[device]);
  }
  return uuids;
}

std::vector<std::uint64_t> OwnSimulatedDevices::left_by_this_process() {
  std::vector<std::uint64_t> left;
  for (const std::size_t device : visible_) {
    if (const Bytes own = memory_.own(device); own > Bytes{}) {
      left.push_back((size_ - own).count());
    }
  }
  return left;
}

Bytes OwnSimulatedDevices::free_bytes(int index) { return size_ - Bytes{memory_.use(device(index)).used_bytes}; }

std::size_t OwnSimulatedDevices::device(int index) const {
  if (index < 0 || static_cast<std::size_t>(index) >= visible_.size()) {
    throw InvalidSetting{"simulated device " + std::to_string(index) + " was asked for, and this process sees " +
                         std::to_string(visible_.size()) +
                         "; ask for more with GPUS in gpu_add_test() or gpu_discover_tests()"};
  }
  return visible_[static_cast<std::size_t>(index)];
}

} // namespace gputest::devices
