#include "memory/source.hpp"

#include "system/cuda_driver_memory.hpp"

namespace gputest::memory {

namespace {

system::CudaAllocator allocator_of(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::pool:
    return system::CudaAllocator::pool;
  case MemoryKind::malloc:
    return system::CudaAllocator::malloc;
  case MemoryKind::managed:
    break;
  }
  return system::CudaAllocator::managed;
}

class RealSource final : public Source {
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

  // The driver tells where managed memory was sent last, not where its pages are, and counts no evictions.
  [[nodiscard]] std::optional<std::map<int, Bytes>> take_spills() override { return std::nullopt; }

private:
  system::CudaMemory& driver_ = system::CudaMemory::instance();
};

} // namespace

std::unique_ptr<Source> make_real_source() { return std::make_unique<RealSource>(); }

} // namespace gputest::memory
