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
#include <mutex>
#include <system_error>
#include <utility>

namespace gputest::devices {

namespace {

class Simulated : public DeviceList {
public:
  Simulated(const policy::SimulatedDevices& setting, const Settings& settings)
      : setting_{setting}, memory_{std::make_unique<SimulatedMemory>(setting, settings.folder)} {
    setting_.facts.processes_allowed = settings.processes_per_device;
    for (const auto& uuid : simulated_uuids(setting)) {
      devices_.push_back({uuid, "simulated device", limited(setting.size, settings), true});
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

  [[nodiscard]] std::uint64_t set_aside_bytes(std::size_t index) const override {
    return (setting_.size - devices_.at(index).total).count();
  }

  [[nodiscard]] std::string origin() const override { return "simulated"; }

private:
  policy::SimulatedDevices setting_;
  std::vector<Device> devices_;
  std::unique_ptr<SimulatedMemory> memory_;
};

std::uint64_t id_of(void* address) { return reinterpret_cast<std::uintptr_t>(address); } // NOLINT

} // namespace

std::unique_ptr<DeviceList> open_simulated(const policy::SimulatedDevices& setting, const Settings& settings) {
  return std::make_unique<Simulated>(setting, settings);
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
                    (setting.kind.empty() ? "" : setting.kind + "-") +
                    (setting.return_after.count() > 0 ? "late-" : "") + std::to_string(i));
  }
  return uuids;
}

struct SimulatedProcess::View {
  View(const policy::SimulatedDevices& setting, const std::string& folder)
      : facts{setting.facts}, uuids{simulated_uuids(setting)}, size{setting.size}, memory{setting, folder},
        visible{policy::visible_devices(os::read_variable("CUDA_VISIBLE_DEVICES"), uuids)} {}

  [[nodiscard]] std::size_t device(int index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= visible.size()) {
      throw InvalidSetting{"simulated device " + std::to_string(index) + " was asked for, and this process sees " +
                           std::to_string(visible.size()) +
                           "; ask for more with the argument GPUS of its CMake function"};
    }
    return visible[static_cast<std::size_t>(index)];
  }

  policy::DeviceFacts facts;      ///< of each of them
  std::vector<std::string> uuids; ///< of all devices of the machine
  Bytes size;
  SimulatedMemory memory;
  std::vector<std::size_t> visible;
};

/// `who` asks for it.
SimulatedProcess::View& SimulatedProcess::view(const char* who) {
  if (in_use_) {
    return *view_;
  }
  const std::lock_guard guard{mutex_};
  if (!view_) {
    const auto settings = settings::of_process();
    const auto chosen = settings::parse_devices(settings.devices);
    const auto* const setting = std::get_if<policy::SimulatedDevices>(&chosen);
    if (setting == nullptr) {
      throw InvalidSetting{std::string{who} + " was asked for, but the devices are not simulated; set "
                                              "GPUTEST_DEVICES=simulated:<n>x<size>, or allocate through CUDA"};
    }
    view_ = std::make_unique<View>(*setting, settings.folder);
    in_use_ = true;
  }
  return *view_;
}

void SimulatedProcess::take(int index, Bytes bytes) {
  auto& view = this->view("a SimulatedBuffer");
  view.memory.allocate(view.device(index), bytes);
}

void SimulatedProcess::give_back(int index, Bytes bytes) noexcept {
  view_->memory.free(view_->visible[static_cast<std::size_t>(index)], bytes);
}

DeviceStateAfterSync SimulatedProcess::synchronize_and_trim() {
  DeviceStateAfterSync state;
  try {
    for (std::size_t i = 0; in_use_ && i < view_->visible.size(); ++i) {
      if (const Bytes own = view_->memory.own(view_->visible[i]); own > Bytes{}) {
        state.free_bytes.push_back((view_->size - own).count());
      }
    }
  } catch (const LedgerError&) { // a test has closed the devices' files: the next allocation says so
    state.free_bytes.clear();
  }
  state.has_context = !state.free_bytes.empty();
  return state;
}

bool SimulatedProcess::sees_only(const std::vector<std::string>& uuids) const {
  return in_use_ && std::all_of(view_->visible.begin(), view_->visible.end(), [&](std::size_t device) {
           return std::find(uuids.begin(), uuids.end(), view_->uuids[device]) != uuids.end();
         });
}

std::string SimulatedProcess::set_heap(int device, Bytes heap) {
  auto& view = this->view("a device heap");
  view.memory.allocate(view.device(device), policy::heap_cost(heap));
  return {};
}

bool SimulatedProcess::has_pools(int index) {
  static_cast<void>(view().device(index));
  return view().facts.memory_pools.value_or(false);
}

bool SimulatedProcess::has_managed_memory(int index) {
  static_cast<void>(view().device(index));
  return view().facts.managed_memory.value_or(false);
}

Bytes SimulatedProcess::free_bytes(int index) {
  auto& view = this->view();
  const Bytes free = view.size - Bytes{view.memory.use(view.device(index)).used_bytes};
  note_simulated_answer(index, free);
  return free;
}

void* SimulatedProcess::allocate(MemoryKind kind, int index, Bytes bytes, StreamHandle /*stream*/, bool /*wait*/) {
  ask_simulated_allocation(allocation_kind_of(kind), index, "memory_resource", bytes);
  void* const address = os::reserve_addresses(bytes.count());
  if (address == nullptr) {
    throw OutOfMemory{to_string(bytes) +
                      " of a simulated device were asked for, and there are no addresses for them: " +
                      std::generic_category().message(errno)};
  }
  try {
    auto& view = this->view();
    view.memory.allocate(view.device(index), bytes);
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

std::string SimulatedProcess::free(MemoryKind /*kind*/, int index, void* pointer, Bytes bytes,
                                   StreamHandle /*stream*/) noexcept {
  note_simulated_free(id_of(pointer));
  give_back(index, bytes);
  os::release_addresses(pointer, bytes.count());
  return {};
}

SimulatedProcess& simulated_process() {
  static auto& process = *new SimulatedProcess; // NOLINT(cppcoreguidelines-owning-memory)
  return process;
}

} // namespace gputest::devices

namespace gputest {

namespace {

/// Of a new buffer. No address is as large: the memory of resources has addresses.
std::uint64_t new_id() {
  static std::atomic<std::uint64_t> last{std::uint64_t{1} << 63U};
  return ++last;
}

} // namespace

SimulatedBuffer::SimulatedBuffer(Bytes size, int index) : size_{size}, index_{index}, id_{new_id()} {
  devices::ask_simulated_allocation(devices::AllocationKind::device, index, "SimulatedBuffer", size);
  try {
    devices::simulated_process().take(index, size);
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
    devices::simulated_process().give_back(index_, size_);
  }
}

bool devices_are_simulated() {
  return std::holds_alternative<policy::SimulatedDevices>(settings::parse_devices(settings::of_process().devices));
}

} // namespace gputest
