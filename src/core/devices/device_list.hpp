// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/capabilities.hpp"

#include <gputest/device.hpp>
#include <gputest/settings.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::devices {

/// A process that holds memory of a device.
struct ProcessMemory {
  std::int64_t pid = 0;
  std::optional<std::uint64_t> used_bytes;
};

/// One look at a device's memory.
struct MemoryUse {
  std::uint64_t used_bytes = 0;                        ///< by anybody, what the driver reserves not counted
  std::optional<std::vector<ProcessMemory>> processes; ///< nullopt if the driver cannot list them
};

/// Whether the CUDA driver may be asked for what only it knows. The first time that costs about 100 ms a GPU (H200).
enum class AskDriver { no, yes };

/// The devices of this machine, real or simulated, without a CUDA context.
class DeviceList {
public:
  virtual ~DeviceList() = default;

  /// All devices of the machine, before any restriction by CUDA_VISIBLE_DEVICES.
  [[nodiscard]] virtual const std::vector<Device>& devices() const = 0;

  /// What the driver keeps of device `index` for itself.
  [[nodiscard]] virtual std::uint64_t reserved_bytes(std::size_t index) const = 0;

  /// What processes can ever have of device `index`: its memory less what the driver keeps.
  [[nodiscard]] Bytes usable_bytes(std::size_t index) const {
    return devices().at(index).total - Bytes{reserved_bytes(index)};
  }

  /// What a process takes by having a context, before anything was measured.
  [[nodiscard]] virtual std::uint64_t usual_overhead_bytes(std::size_t index) const = 0;

  /// Memory of device `index` right now, and the processes that have it.
  [[nodiscard]] virtual MemoryUse memory(std::size_t index) const = 0;

  /// Only how much of it is in use, without a list of processes, which takes a driver a hundred times as long.
  [[nodiscard]] virtual std::uint64_t used_bytes(std::size_t index) const { return memory(index).used_bytes; }

  /// What is known of device `index` apart from its memory. Asking the driver creates no context, and does not
  /// initialise CUDA in this process.
  [[nodiscard]] virtual policy::DeviceFacts facts(std::size_t index, AskDriver ask) const = 0;

  /// How much of device `index` no decision uses: what it has beyond GPUTEST_DEVICE_MEMORY.
  [[nodiscard]] virtual std::uint64_t set_aside_bytes(std::size_t /*index*/) const { return 0; }

  /// The GPUs that exist but are not in devices(), each with the reason; empty if there are none.
  [[nodiscard]] virtual std::string left_out() const { return {}; }

  /// One line for people: what kind of devices these are (`driver 580.159.04`, `simulated`).
  [[nodiscard]] virtual std::string origin() const = 0;
};

/// Opens the devices that the setting asks for; an empty list, with the reason in `why_none`, if there are none.
[[nodiscard]] std::unique_ptr<DeviceList> open_devices(const Settings& settings, std::string& why_none);

} // namespace gputest::devices
