#pragma once

#include "policy/device_facts.hpp"
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

  /// What a process takes by having a context, before anything was measured.
  [[nodiscard]] virtual std::uint64_t usual_overhead_bytes(std::size_t index) const = 0;

  /// Memory of device `index` right now. A few microseconds; does not block.
  [[nodiscard]] virtual MemoryUse memory(std::size_t index) const = 0;

  /// What is known of device `index` beside its memory. Asking the driver creates no context, and does not initialise
  /// CUDA in this process.
  [[nodiscard]] virtual policy::DeviceFacts facts(std::size_t index, AskDriver ask) const = 0;

  /// How much of device `index` no decision counts on: what it has beyond GPUTEST_DEVICE_MEMORY.
  [[nodiscard]] virtual std::uint64_t set_aside_bytes(std::size_t /*index*/) const { return 0; }

  /// The GPUs that are there and not in devices(), with what is the matter with each; empty if there are none.
  [[nodiscard]] virtual std::string left_out() const { return {}; }

  /// One line for people: what kind of devices these are (`driver 580.159.04`, `simulated`).
  [[nodiscard]] virtual std::string origin() const = 0;
};

/// Opens the devices that the setting asks for; an empty list, with the reason in `why_none`, where there are none.
[[nodiscard]] std::unique_ptr<DeviceList> open_devices(const policy::Settings& settings, std::string& why_none);

} // namespace gputest::devices
