// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/simulated/simulated.hpp"

#include "core/devices/meter.hpp"
#include "core/devices/simulated/simulated_memory.hpp"
#include "core/os/environment.hpp"
#include "core/os/host.hpp"
#include "core/policy/request.hpp"
#include "core/policy/visible_devices.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/simulated_buffer.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>
#include <utility>

namespace gputest::devices {

namespace {

class Simulated : public DeviceList {
public:
  Simulated(const policy::SimulatedDevices& setting, const std::string& folder)
      : setting_{setting}, memory_{std::make_unique<SimulatedMemory>(setting, folder)} {
    for (const auto& uuid : simulated_uuids(setting)) {
      devices_.push_back({uuid, "simulated device", setting.size, true});
    }
  }

  [[nodiscard]] const std::vector<Device>& devices() const override { return devices_; }
  [[nodiscard]] std::uint64_t reserved_bytes(std::size_t /*index*/) const override { return 0; }
  [[nodiscard]] std::uint64_t usual_overhead_bytes(std::size_t /*index*/) const override {
    return setting_.context.count();
  }
  [[nodiscard]] policy::DeviceFacts facts(std::size_t /*index*/, AskDriver /*ask*/) const override {
    return setting_.facts;
  }

  [[nodiscard]] MemoryUse memory(std::size_t index) const override {
    MemoryUse use = memory_->use(index);
    if (setting_.facts.shares_host_memory) {
      const std::uint64_t size = setting_.size.count();
      const auto host = os::read_host_memory().value_or(os::HostMemory{});
      use.used_bytes = std::max(use.used_bytes, size - std::min(size, host.available_bytes));
    }
    if (!setting_.facts.lists_processes) {
      use.processes.reset();
    } else if (setting_.facts.driver_model == policy::DriverModel::wddm) {
      for (auto& process : *use.processes) {
        process.used_bytes.reset(); // Windows manages the memory, and NVML does not know whose is whose
      }
    }
    return use;
  }

  [[nodiscard]] std::string origin() const override { return "simulated"; }

private:
  policy::SimulatedDevices setting_;
  std::vector<Device> devices_;
  std::unique_ptr<SimulatedMemory> memory_;
};

std::atomic<bool> made{false};

std::uint64_t id_of(void* address) { return reinterpret_cast<std::uintptr_t>(address); } // NOLINT

} // namespace

std::unique_ptr<DeviceList> open_simulated(const policy::SimulatedDevices& setting, const std::string& folder) {
  return std::make_unique<Simulated>(setting, folder);
}

std::vector<std::string> simulated_uuids(const policy::SimulatedDevices& setting) {
  constexpr std::uint64_t mebibyte = 1U << 20U;
  const std::uint64_t bytes = setting.size.count();
  const std::string size =
      bytes % mebibyte == 0 ? std::to_string(bytes / mebibyte) + "MiB" : std::to_string(bytes) + "B";
  std::vector<std::string> uuids;
  uuids.reserve(static_cast<std::size_t>(setting.count));
  for (int i = 0; i < setting.count; ++i) {
    uuids.push_back("SIM-" + std::to_string(setting.count) + "x" + size + "-" +
                    (setting.kind.empty() ? "" : setting.kind + "-") + std::to_string(i));
  }
  return uuids;
}

OwnSimulatedDevices& OwnSimulatedDevices::instance(const char* who) {
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

bool OwnSimulatedDevices::has_pools(int index) {
  static_cast<void>(device(index));
  return facts_.memory_pools.value_or(false);
}

bool OwnSimulatedDevices::has_managed_memory(int index) {
  static_cast<void>(device(index));
  return facts_.managed_memory.value_or(false);
}

void* OwnSimulatedDevices::allocate(MemoryKind kind, int index, Bytes bytes, StreamHandle /*stream*/, bool /*wait*/) {
  ask_simulated_allocation(allocation_kind_of(kind), index, "memory_resource", bytes);
  void* const address = os::reserve_addresses(bytes.count());
  if (address == nullptr) {
    throw OutOfMemory{to_string(bytes) +
                      " of a simulated device were asked for, and there are no addresses for them: " +
                      std::generic_category().message(errno)};
  }
  try {
    take(index, bytes);
  } catch (const OutOfMemory&) {
    os::release_addresses(address, bytes.count());
    note_simulated_refusal(index, bytes);
    throw;
  } catch (...) {
    os::release_addresses(address, bytes.count());
    throw;
  }
  note_simulated_allocation(id_of(address), allocation_kind_of(kind), index, "memory_resource", bytes);
  return address;
}

std::string OwnSimulatedDevices::free(MemoryKind /*kind*/, int index, void* pointer, Bytes bytes,
                                      StreamHandle /*stream*/) noexcept {
  note_simulated_free(id_of(pointer));
  give_back(index, bytes);
  os::release_addresses(pointer, bytes.count());
  return {};
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

Bytes OwnSimulatedDevices::free_bytes(int index) {
  const Bytes free = size_ - Bytes{memory_.use(device(index)).used_bytes};
  note_simulated_answer(index, free);
  return free;
}

std::size_t OwnSimulatedDevices::device(int index) const {
  if (index < 0 || static_cast<std::size_t>(index) >= visible_.size()) {
    throw InvalidSetting{"simulated device " + std::to_string(index) + " was asked for, and this process sees " +
                         std::to_string(visible_.size()) +
                         "; ask for more with the argument GPUS of its CMake function"};
  }
  return visible_[static_cast<std::size_t>(index)];
}

namespace {

class SimulatedProcess final : public ThisProcess {
public:
  [[nodiscard]] bool in_use() const override { return OwnSimulatedDevices::in_use(); }

  [[nodiscard]] Settled synchronize_and_trim() override {
    Settled settled;
    try {
      if (in_use()) {
        settled.free_bytes = OwnSimulatedDevices::instance("what this process uses").left_by_this_process();
      }
    } catch (const LedgerError&) { // NOLINT(bugprone-empty-catch)
      // A test has closed the devices' files. The next allocation says so.
    }
    settled.has_context = !settled.free_bytes.empty();
    return settled;
  }

  /// Simulated devices have memory alone.
  [[nodiscard]] DeviceState state() const override { return {}; }

  [[nodiscard]] Meter& meter(MeterSetting setting) override { return simulated_meter(setting); }

  [[nodiscard]] bool sees_only(const std::vector<std::string>& uuids) const override {
    const auto seen = OwnSimulatedDevices::instance("what this process sees").uuids();
    return std::all_of(seen.begin(), seen.end(), [&](const std::string& uuid) {
      return std::find(uuids.begin(), uuids.end(), uuid) != uuids.end();
    });
  }

  /// Only counts what it takes.
  [[nodiscard]] std::string set_heap(int device, Bytes heap) override {
    OwnSimulatedDevices::instance("a device heap").take(device, policy::heap_cost(heap));
    return {};
  }

  [[nodiscard]] bool lists_managed_memory() const override { return true; }

  [[nodiscard]] MemorySource& memory() override {
    return OwnSimulatedDevices::instance("memory of a simulated device");
  }
};

} // namespace

ThisProcess& simulated_process() {
  static ThisProcess& process = *new SimulatedProcess; // NOLINT(cppcoreguidelines-owning-memory): as its memory
  return process;
}

} // namespace gputest::devices

namespace gputest {

namespace {

devices::OwnSimulatedDevices& devices_of_buffers() {
  return devices::OwnSimulatedDevices::instance("a SimulatedBuffer");
}

/// Of a new buffer. No address is as large: the memory of resources has addresses.
std::uint64_t new_id() {
  static std::atomic<std::uint64_t> last{std::uint64_t{1} << 63U};
  return ++last;
}

} // namespace

SimulatedBuffer::SimulatedBuffer(Bytes size, int index) : size_{size}, index_{index}, id_{new_id()} {
  devices::ask_simulated_allocation(devices::AllocationKind::device, index, "SimulatedBuffer", size);
  try {
    devices_of_buffers().take(index, size);
  } catch (const OutOfMemory&) {
    devices::note_simulated_refusal(index, size);
    throw;
  }
  devices::note_simulated_allocation(id_, devices::AllocationKind::device, index, "SimulatedBuffer", size);
}

SimulatedBuffer::SimulatedBuffer(SimulatedBuffer&& other) noexcept
    : size_{std::exchange(other.size_, Bytes{})}, index_{other.index_}, id_{other.id_} {}

SimulatedBuffer& SimulatedBuffer::operator=(SimulatedBuffer&& other) noexcept {
  std::swap(size_, other.size_);
  std::swap(index_, other.index_);
  std::swap(id_, other.id_);
  return *this;
}

SimulatedBuffer::~SimulatedBuffer() {
  if (size_ > Bytes{}) {
    devices::note_simulated_free(id_);
    devices_of_buffers().give_back(index_, size_);
  }
}

bool devices_are_simulated() {
  return std::holds_alternative<policy::SimulatedDevices>(settings::parse_devices(settings::of_process().devices));
}

} // namespace gputest
