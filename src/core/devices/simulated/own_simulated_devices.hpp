// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/simulated/simulated_memory.hpp"
#include "core/devices/this_process.hpp"

#include <vector>

namespace gputest::devices {

/// The simulated devices that this process sees: those that CUDA_VISIBLE_DEVICES leaves, numbered from 0 as CUDA would.
///
/// One a process, since a process has one context on a device. Thread-safe.
class OwnSimulatedDevices {
public:
  /// Looks at the settings and at CUDA_VISIBLE_DEVICES the first time. Throws InvalidSetting, with `who` asks, if the
  /// devices are not simulated.
  static OwnSimulatedDevices& instance(const char* who);

  /// Whether instance() was called with success: which devices this process sees is decided then, as by cuInit().
  [[nodiscard]] static bool in_use();

  /// Takes memory of device `index`. Throws OutOfMemory; InvalidSetting if there is no such device.
  void allocate(int index, Bytes bytes) { memory_.allocate(device(index), bytes); }

  /// Gives memory of device `index` back; leaves alone what a forked child has from its parent.
  void free(int index, Bytes bytes) noexcept;

  /// Whether device `index` can do what a driver's attributes tell of a real one. Throws as allocate() does.
  [[nodiscard]] bool has_memory_pools(int index) const;
  [[nodiscard]] bool has_managed_memory(int index) const;

  /// UUIDs of the devices that this process sees.
  [[nodiscard]] std::vector<std::string> uuids() const;

  /// Of each device that this process uses, in order: what it leaves of it.
  [[nodiscard]] std::vector<std::uint64_t> left_by_this_process();

  /// What nobody uses of device `index`. Throws InvalidSetting if there is no such device.
  [[nodiscard]] Bytes free_bytes(int index);

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
