#pragma once

#include "policy/settings.hpp"

#include <gputest/device.hpp>

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
  std::optional<std::vector<ProcessMemory>> processes; ///< nullopt where the driver cannot list them
};

/// The devices of this machine, real or simulated, without a CUDA context.
class DeviceList {
public:
  virtual ~DeviceList() = default;

  /// All devices of the machine, before any restriction by CUDA_VISIBLE_DEVICES.
  [[nodiscard]] virtual const std::vector<Device>& devices() const = 0;

  /// What the driver keeps of device `index` for itself.
  [[nodiscard]] virtual std::uint64_t reserved_bytes(std::size_t index) const = 0;

  /// What a process takes by having a context, before anything was measured.
  [[nodiscard]] virtual std::uint64_t usual_overhead_bytes(std::size_t index) const = 0;

  /// Memory of device `index` right now. A few microseconds; does not block.
  [[nodiscard]] virtual MemoryUse memory(std::size_t index) const = 0;

  /// One line for people: what kind of devices these are (`driver 580.159.04`, `simulated`).
  [[nodiscard]] virtual std::string origin() const = 0;
};

/// Opens the devices that the setting asks for; an empty list, with the reason in `why_none`, where there are none.
[[nodiscard]] std::unique_ptr<DeviceList> open_devices(const policy::Settings& settings, std::string& why_none);

} // namespace gputest::devices
