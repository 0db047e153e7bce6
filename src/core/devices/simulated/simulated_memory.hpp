// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/ledger/storage/slot_store.hpp"
#include "core/policy/simulated_devices.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gputest::devices {

/// The memory of simulated devices: how much each process uses. When a process and all children that it forked have
/// exited, in any way, its memory is free; at once or, if the setting says so, some time later, as on a GPU.
///
/// Thread-safe. A forked child leaves its parent's memory alone, as on a GPU, and what it allocates is its own.
class SimulatedMemory {
public:
  static constexpr std::size_t max_devices = 16;

  /// Opens the store for this setting in `folder`, and makes it if there is none. Throws LedgerError.
  SimulatedMemory(const policy::SimulatedDevices& setting, const std::string& folder);

  /// Takes bytes of a device for this process, and with the first of them its context. Throws OutOfMemory, and Error
  /// where the device lets this process not in.
  void allocate(std::size_t device, Bytes bytes);

  /// Gives bytes back; the context stays.
  void free(std::size_t device, Bytes bytes) noexcept;
  [[nodiscard]] Bytes own(std::size_t device);

  /// Who uses what of a device; what is back of processes that have ended is left out.
  [[nodiscard]] MemoryUse use(std::size_t device);

private:
  struct Record;

  [[nodiscard]] bool is_in_use(std::size_t slot, Record record);
  void let_in(std::size_t device, const MemoryUse& use) const;
  void take_slot();
  [[nodiscard]] MemoryUse count(std::size_t device);
  void write_own();

  policy::SimulatedDevices setting_;
  os::SlotStore store_;
  os::LivenessFifo liveness_;
  std::size_t slot_ = 0;
  std::int64_t pid_ = 0;
  std::array<std::uint64_t, max_devices> used_{};
};

} // namespace gputest::devices
