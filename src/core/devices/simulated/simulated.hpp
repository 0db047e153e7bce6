// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/devices/simulated/simulated_memory.hpp"
#include "core/policy/simulated_devices.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gputest::devices {

/// The simulated devices of this machine: one store in `folder` for each setting, in which processes count what they
/// use.
[[nodiscard]] std::unique_ptr<DeviceList> open_simulated(const policy::SimulatedDevices& setting,
                                                         const std::string& folder);

[[nodiscard]] std::vector<std::string> simulated_uuids(const policy::SimulatedDevices& setting);

/// This process on simulated devices: its memory is counted as SimulatedBuffer's is, with addresses that are nobody
/// else's and cannot be touched.
[[nodiscard]] ThisProcess& simulated_process();

/// The simulated devices that this process sees: those that CUDA_VISIBLE_DEVICES leaves, numbered from 0 as CUDA would.
/// As a source of memory it gives addresses that are nobody else's and cannot be touched.
///
/// One a process, since a process has one context on a device. Never destroyed: memory may be freed by a global
/// variable's destructor. Thread-safe.
class OwnSimulatedDevices final : public MemorySource {
public:
  /// Looks at the settings and at CUDA_VISIBLE_DEVICES the first time. Throws InvalidSetting, with `who` asks, if the
  /// devices are not simulated.
  static OwnSimulatedDevices& instance(const char* who);

  /// Whether instance() was called with success: which devices this process sees is decided then, as by cuInit().
  [[nodiscard]] static bool in_use();

  /// Takes memory of device `index`, without an address. Throws OutOfMemory; InvalidSetting if there is no such device.
  void take(int index, Bytes bytes) { memory_.allocate(device(index), bytes); }

  /// Gives it back; leaves alone what a forked child has from its parent.
  void give_back(int index, Bytes bytes) noexcept { memory_.free(visible_[static_cast<std::size_t>(index)], bytes); }

  [[nodiscard]] bool has_pools(int index) override;
  [[nodiscard]] bool has_managed_memory(int index) override;
  [[nodiscard]] Bytes free_bytes(int index) override;
  [[nodiscard]] void* allocate(MemoryKind kind, int index, Bytes bytes, StreamHandle stream, bool wait) override;
  std::string free(MemoryKind kind, int index, void* pointer, Bytes bytes, StreamHandle stream) noexcept override;

  /// UUIDs of the devices that this process sees.
  [[nodiscard]] std::vector<std::string> uuids() const;

  /// Of each device that this process uses, in order: what it leaves of it.
  [[nodiscard]] std::vector<std::uint64_t> left_by_this_process();

private:
  OwnSimulatedDevices(const policy::SimulatedDevices& setting, const std::string& folder);
  [[nodiscard]] std::size_t device(int index) const;

  policy::DeviceFacts facts_;          ///< of each of them
  std::vector<std::string> all_uuids_; ///< of all devices of the machine
  Bytes size_;
  SimulatedMemory memory_;
  std::vector<std::size_t> visible_;
};

} // namespace gputest::devices
