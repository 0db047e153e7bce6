// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/devices/simulated/simulated_memory.hpp"
#include "core/os/mutex.hpp"
#include "core/policy/simulated_devices.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gputest::devices {

/// The simulated devices of this machine: one store in the settings' folder for each `setting`, in which processes
/// count what they use.
[[nodiscard]] std::unique_ptr<DeviceList> open_simulated(const policy::SimulatedDevices& setting,
                                                         const Settings& settings);

/// They have `-late-` in them if memory of a process that has ended comes back later.
[[nodiscard]] std::vector<std::string> simulated_uuids(const policy::SimulatedDevices& setting);

/// This process on the simulated devices that it sees: those that CUDA_VISIBLE_DEVICES leaves, numbered from 0 as CUDA
/// would. Its memory is counted as SimulatedBuffer's is, with addresses that are nobody else's and cannot be touched.
///
/// The first use of memory looks at the settings and at CUDA_VISIBLE_DEVICES, as cuInit() does. It throws
/// InvalidSetting if the devices are not simulated.
class SimulatedProcess final : public ThisProcess {
public:
  /// Takes memory of device `index` for a SimulatedBuffer, without an address. Throws OutOfMemory; InvalidSetting if
  /// there is no such device.
  void take(int index, Bytes bytes);

  /// Gives it back; leaves alone what a forked child has from its parent.
  void give_back(int index, Bytes bytes) noexcept;

  [[nodiscard]] bool in_use() const override { return in_use_; }
  [[nodiscard]] DeviceStateAfterSync synchronize_and_trim() override;

  /// Simulated devices have memory alone.
  [[nodiscard]] DeviceState state() const override { return {}; }
  [[nodiscard]] Meter& meter(MeterSetting setting) override { return simulated_meter(setting); }
  [[nodiscard]] bool sees_only(const std::vector<std::string>& uuids) const override;

  /// Only counts what it takes.
  [[nodiscard]] std::string set_heap(int device, Bytes heap) override;
  [[nodiscard]] bool lists_managed_memory() const override { return true; }
  [[nodiscard]] bool has_pools(int index) override;
  [[nodiscard]] bool has_managed_memory(int index) override;
  [[nodiscard]] Bytes free_bytes(int index) override;
  [[nodiscard]] void* allocate(MemoryKind kind, int index, Bytes bytes, StreamHandle stream, bool wait) override;
  std::string free(MemoryKind kind, int index, void* pointer, Bytes bytes, StreamHandle stream) noexcept override;

private:
  struct View;
  View& view(const char* who = "memory of a simulated device");

  os::Mutex mutex_;
  std::unique_ptr<View> view_; ///< null before the first use
  std::atomic<bool> in_use_{false};
};

/// The one of this process, which has one context on a device. Never destroyed: memory may be freed by a global
/// variable's destructor.
[[nodiscard]] SimulatedProcess& simulated_process();

} // namespace gputest::devices
