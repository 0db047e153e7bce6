// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"
#include "core/policy/capabilities.hpp"

#include <gputest/bytes.hpp>
#include <gputest/device.hpp>
#include <gputest/memory_kind.hpp>
#include <gputest/settings.hpp>
#include <gputest/stream_handle.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::devices {

/// A process that holds memory of a device.
struct ProcessMemory {
  std::int64_t pid = 0;
  std::optional<std::uint64_t> used_bytes; ///< empty if the driver does not say (WDDM, some containers)
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

/// What decisions use of a device with so much memory: GPUTEST_DEVICE_MEMORY limits it.
[[nodiscard]] Bytes limited(Bytes total, const Settings& settings);

/// What a process's devices show after its work on them is done.
struct DeviceStateAfterSync {
  bool has_context = false; ///< on any device
  std::string error;        ///< the sticky error that makes the devices unusable in this process, such as
                            ///< `CUDA_ERROR_ILLEGAL_ADDRESS (700)`; empty if there is none
  /// Of each device on which this process has a context, in the order of its own numbers: memory that nobody uses. A
  /// back end that knows what this process alone uses may leave out everybody else's.
  std::vector<std::uint64_t> free_bytes;
};

/// What a test can change of its process's devices, apart from their memory, and leave to the next one.
struct DeviceState {
  std::optional<int> current; ///< the device that the calling thread works on; nullopt: none yet
  /// Of each device on which this process has a context: values by the names that programs know.
  std::map<int, std::map<std::string, std::uint64_t>> limits;
};

/// The first difference, in words: `device 1 is the current one, in place of 0`; empty if there is none. What a process
/// had no value of before, or has none of any more, is no difference. Pure.
[[nodiscard]] std::string change_between(const DeviceState& before, const DeviceState& after);

/// What this process itself does on one kind of devices, and its memory there: with DeviceList, all that a back end has
/// to provide. Devices are numbered as the back end numbers them for this process.
///
/// Thread-safe.
class ThisProcess {
public:
  virtual ~ThisProcess() = default;

  /// Whether it has begun to use devices, so that choosing some comes too late. Does not begin to.
  [[nodiscard]] virtual bool in_use() const = 0;

  /// Waits for all work of this process, gives back what its memory pools keep that nothing uses, and looks for an
  /// error. Does nothing in a process that has no context, and makes none. Blocks until the work is done. Does not
  /// throw.
  [[nodiscard]] virtual DeviceStateAfterSync synchronize_and_trim() = 0;

  /// What it has of its devices apart from memory, as the calling thread sees it. Makes no context. Does not throw.
  [[nodiscard]] virtual DeviceState state() const = 0;

  /// What measures its memory; always the same one for one setting.
  [[nodiscard]] virtual Meter& meter(MeterSetting setting) = 0;

  /// Whether all devices visible to this process are among these; false also if that is not known.
  [[nodiscard]] virtual bool sees_only(const std::vector<std::string>& uuids) const = 0;

  /// Sets the size of the heap for `malloc` in kernels, before the first of them runs. Makes the device's context.
  /// Returns what went wrong, or nothing. Throws Error.
  [[nodiscard]] virtual std::string set_heap(int device, Bytes heap) = 0;

  /// Whether the devices' lists of processes count managed memory as its process's.
  [[nodiscard]] virtual bool lists_managed_memory() const = 0;

  // Memory. Each of these begins to use devices. They throw InvalidSetting, and Error if there is no such device.

  [[nodiscard]] virtual bool has_pools(int device) = 0;
  [[nodiscard]] virtual bool has_managed_memory(int device) = 0;

  /// What is free of the device's memory right now.
  [[nodiscard]] virtual Bytes free_bytes(int device) = 0;

  /// Allocates at least one byte, in the order of `stream`; with `wait` ready for every stream. Throws OutOfMemory,
  /// Error.
  [[nodiscard]] virtual void* allocate(MemoryKind kind, int device, Bytes bytes, StreamHandle stream, bool wait) = 0;

  /// Frees what allocate() gave. Returns what went wrong, or nothing.
  virtual std::string free(MemoryKind kind, int device, void* pointer, Bytes bytes, StreamHandle stream) noexcept = 0;
};

/// This process on the kind of devices that the settings ask for. Throws InvalidSetting.
[[nodiscard]] ThisProcess& this_process(const Settings& settings);

} // namespace gputest::devices
