// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/metering.hpp"
#include "core/devices/simulated/own_simulated_devices.hpp"
#include "core/devices/simulated/simulated.hpp"
#include "core/os/host_memory.hpp"
#include "core/policy/heap_cost.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace gputest::devices {

namespace {

void* reserve(Bytes bytes) {
  void* const address = os::reserve_addresses(bytes.count());
  if (address == nullptr) {
    throw OutOfMemory{to_string(bytes) +
                      " of a simulated device were asked for, and there are no addresses for them: " +
                      std::generic_category().message(errno)};
  }
  return address;
}

std::uint64_t id_of(void* address) { return reinterpret_cast<std::uintptr_t>(address); } // NOLINT

class SimulatedSource final : public MemorySource {
public:
  [[nodiscard]] bool has_pools(int device) override { return devices_.has_memory_pools(device); }
  [[nodiscard]] bool has_managed_memory(int device) override { return devices_.has_managed_memory(device); }
  [[nodiscard]] Bytes free_bytes(int device) override { return devices_.free_bytes(device); }

  [[nodiscard]] void* allocate(MemoryKind kind, int device, Bytes bytes, StreamHandle /*stream*/,
                               bool /*wait*/) override {
    void* const address = reserve(bytes);
    try {
      devices_.allocate(device, bytes);
    } catch (const OutOfMemory&) {
      os::release_addresses(address, bytes.count());
      note_simulated_refusal(device, bytes);
      throw;
    } catch (...) {
      os::release_addresses(address, bytes.count());
      throw;
    }
    note_simulated_allocation(id_of(address), allocation_kind_of(kind), device, "memory_resource", bytes);
    return address;
  }

  std::string free(MemoryKind /*kind*/, int device, void* pointer, Bytes bytes,
                   StreamHandle /*stream*/) noexcept override {
    note_simulated_free(id_of(pointer));
    devices_.free(device, bytes);
    os::release_addresses(pointer, bytes.count());
    return {};
  }

private:
  OwnSimulatedDevices& devices_ = OwnSimulatedDevices::instance("memory of a simulated device");
};

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
    OwnSimulatedDevices::instance("a device heap").allocate(device, policy::heap_cost(heap));
    return {};
  }

  [[nodiscard]] bool lists_managed_memory() const override { return true; }

  [[nodiscard]] MemorySource& memory() override {
    // Never destroyed: memory may be freed by a global variable's destructor.
    static MemorySource& source = *new SimulatedSource; // NOLINT(cppcoreguidelines-owning-memory)
    return source;
  }
};

} // namespace

ThisProcess& simulated_process() {
  static ThisProcess& process = *new SimulatedProcess; // NOLINT(cppcoreguidelines-owning-memory): as its memory
  return process;
}

} // namespace gputest::devices
