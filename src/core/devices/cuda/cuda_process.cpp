// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_process.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/devices/cuda/cuda_driver_memory.hpp"
#include "core/devices/metering.hpp"

#include <map>
#include <utility>

namespace gputest::devices {

namespace {

CudaAllocator allocator_of(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::pool:
    return CudaAllocator::pool;
  case MemoryKind::malloc:
    return CudaAllocator::malloc;
  case MemoryKind::managed:
    break;
  }
  return CudaAllocator::managed;
}

class CudaSource final : public MemorySource {
public:
  [[nodiscard]] bool has_pools(int device) override { return driver_.has_pools(device); }
  [[nodiscard]] bool has_managed_memory(int device) override { return driver_.has_managed_memory(device); }
  [[nodiscard]] Bytes free_bytes(int device) override { return Bytes{driver_.free_bytes(device)}; }

  [[nodiscard]] void* allocate(MemoryKind kind, int device, Bytes bytes, StreamHandle stream, bool wait) override {
    return driver_.allocate(allocator_of(kind), device, bytes.count(), stream.get(), wait);
  }

  std::string free(MemoryKind kind, int device, void* pointer, Bytes /*bytes*/, StreamHandle stream) noexcept override {
    return driver_.free(allocator_of(kind), device, pointer, stream.get());
  }

  // The driver reports where managed memory was sent last, not where its pages are, and counts no evictions.
  [[nodiscard]] std::optional<std::map<int, Bytes>> take_spills() override { return std::nullopt; }

private:
  CudaMemory& driver_ = CudaMemory::instance();
};

class CudaProcess final : public ThisProcess {
public:
  [[nodiscard]] bool in_use() const override { return cuda_is_initialised(); }
  [[nodiscard]] Settled synchronize_and_trim() override { return devices::synchronize_and_trim(); }
  [[nodiscard]] DeviceState state() const override { return cuda_state(); }
  [[nodiscard]] Meter& meter(MeterSetting setting) override { return cuda_meter(setting); }
  [[nodiscard]] bool sees_only(const std::vector<std::string>& uuids) const override { return cuda_sees_only(uuids); }
  [[nodiscard]] std::string set_heap(int device, Bytes heap) override {
    return CudaMemory::instance().set_heap(device, heap.count());
  }
  [[nodiscard]] bool lists_managed_memory() const override { return false; }

  [[nodiscard]] MemorySource& memory() override {
    // Never destroyed: memory may be freed by a global variable's destructor.
    static MemorySource& source = *new CudaSource; // NOLINT(cppcoreguidelines-owning-memory)
    return source;
  }
};

} // namespace

ThisProcess& cuda_process() {
  static ThisProcess& process = *new CudaProcess; // NOLINT(cppcoreguidelines-owning-memory): as its memory
  return process;
}

} // namespace gputest::devices
