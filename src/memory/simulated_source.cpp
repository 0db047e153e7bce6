#include "memory/source.hpp"

#include "devices/own_simulated_devices.hpp"

#include <gputest/error.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

namespace gputest::memory {

namespace {

/// Addresses that are nobody else's, and that end the process when they are used.
void* reserve(Bytes bytes) {
  void* const address = mmap(nullptr, bytes.count(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) { // NOLINT(performance-no-int-to-ptr, cppcoreguidelines-pro-type-cstyle-cast)
    throw OutOfMemory{to_string(bytes) +
                      " of a simulated device were asked for, and there are no addresses for them: " +
                      std::generic_category().message(errno)};
  }
  return address;
}

class SimulatedSource final : public Source {
public:
  [[nodiscard]] bool has_pools(int device) override { return devices_.has_memory_pools(device); }
  [[nodiscard]] bool has_managed_memory(int device) override { return devices_.has_managed_memory(device); }
  [[nodiscard]] Bytes free_bytes(int device) override { return devices_.free_bytes(device); }

  [[nodiscard]] void* allocate(MemoryKind kind, int device, Bytes bytes, StreamHandle /*stream*/,
                               bool /*wait*/) override {
    const std::lock_guard guard{mutex_};
    void* const address = reserve(bytes);
    try {
      if (kind == MemoryKind::managed) {
        managed_.emplace(address, take_managed(device, bytes));
      } else {
        take(device, bytes);
      }
    } catch (...) {
      munmap(address, bytes.count());
      throw;
    }
    return address;
  }

  std::string free(MemoryKind kind, int device, void* pointer, Bytes bytes, StreamHandle /*stream*/) noexcept override {
    const std::lock_guard guard{mutex_};
    const auto managed = managed_.find(pointer);
    if (kind == MemoryKind::managed && managed != managed_.end()) {
      devices_.free(device, managed->second.resident);
      managed_.erase(managed);
    } else {
      devices_.free(device, bytes);
    }
    munmap(pointer, bytes.count());
    return {};
  }

  [[nodiscard]] std::optional<std::map<int, Bytes>> take_spills() override {
    const std::lock_guard guard{mutex_};
    return std::exchange(spilled_, {});
  }

private:
  struct Managed {
    int device;
    Bytes resident; ///< of it on the device; the rest is on the host
  };

  /// Memory that cannot move drives managed memory of this process to the host, as on a GPU.
  void take(int device, Bytes bytes) {
    try {
      devices_.allocate(device, bytes);
    } catch (const OutOfMemory&) {
      if (!spill(device, bytes - devices_.free_bytes(device))) {
        throw;
      }
      devices_.allocate(device, bytes);
    }
  }

  /// Managed memory is used on the device as soon as it is there; what has no room is on the host from the beginning.
  Managed take_managed(int device, Bytes bytes) {
    const Bytes resident = std::min(bytes, devices_.free_bytes(device));
    devices_.allocate(device, resident);
    if (resident < bytes) {
      spilled_[device] += bytes - resident;
    }
    return {device, resident};
  }

  /// Sends managed memory of the device to the host; none, where that would not be enough.
  bool spill(int device, Bytes wanted) {
    Bytes resident;
    for (const auto& [address, managed] : managed_) {
      resident += managed.device == device ? managed.resident : Bytes{};
    }
    if (resident < wanted) {
      return false;
    }
    spilled_[device] += wanted;
    for (auto& [address, managed] : managed_) {
      const Bytes moved = managed.device == device ? std::min(wanted, managed.resident) : Bytes{};
      devices_.free(device, moved);
      managed.resident -= moved;
      wanted -= moved;
    }
    return true;
  }

  devices::OwnSimulatedDevices& devices_ = devices::OwnSimulatedDevices::instance("memory of a simulated device");
  std::mutex mutex_;
  std::map<void*, Managed> managed_;
  std::map<int, Bytes> spilled_;
};

} // namespace

std::unique_ptr<Source> make_simulated_source() { return std::make_unique<SimulatedSource>(); }

} // namespace gputest::memory
