#include "system/cuda_driver.hpp"

#include "system/cuda_driver_library.hpp"

#include <algorithm>
#include <vector>

namespace gputest::system {

namespace {

/// Trims pools, each once however many ways lead to it. A device without pools (TCC, some vGPUs) has none to trim.
class Trimmer {
public:
  explicit Trimmer(const cuda::Functions& functions) : functions_{functions} {}

  void trim_device(cuda::Device device) {
    if (functions_.trim_graph_memory != nullptr) {
      functions_.trim_graph_memory(device);
    }
    for (const auto pool_of : {functions_.default_pool, functions_.current_pool}) {
      cuda::MemoryPool pool = nullptr;
      if (pool_of != nullptr && pool_of(&pool, device) == cuda::success) {
        trim(pool);
      }
    }
    trim_at({cuda::location_device, device}, cuda::managed_memory);
  }

  /// The pools that belong to no device. Managed memory of theirs can be on any.
  void trim_host() {
    trim_at({cuda::location_none, 0}, cuda::managed_memory);
    trim_at({cuda::location_host, 0}, cuda::managed_memory);
    trim_at({cuda::location_host, 0}, cuda::pinned_memory);
  }

private:
  void trim_at(cuda::Location location, int memory_type) {
    for (const auto pool_of : {functions_.default_pool_at, functions_.current_pool_at}) {
      cuda::MemoryPool pool = nullptr;
      if (pool_of != nullptr && pool_of(&pool, &location, memory_type) == cuda::success) {
        trim(pool);
      }
    }
  }

  void trim(cuda::MemoryPool pool) {
    if (functions_.trim_pool != nullptr && pool != nullptr &&
        std::find(trimmed_.begin(), trimmed_.end(), pool) == trimmed_.end()) {
      functions_.trim_pool(pool, 0);
      trimmed_.push_back(pool);
    }
  }

  const cuda::Functions& functions_;
  std::vector<cuda::MemoryPool> trimmed_;
};

} // namespace

bool cuda_is_initialised() {
  const auto library = cuda::Library::if_loaded();
  int count = 0;
  return library && library->functions().device_count(&count) == cuda::success;
}

Settled settle_cuda() {
  Settled settled;
  const auto library = cuda::Library::if_loaded();
  if (!library) {
    return settled;
  }
  const auto& functions = library->functions();
  const int count = library->device_count();
  Trimmer trimmer{functions};
  bool healthy = false;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cuda::Device device = 0;
    if (functions.device(&device, ordinal) != cuda::success || !library->has_primary_context(device)) {
      continue;
    }
    settled.used_cuda = true;
    const cuda::PrimaryContext context{functions, device};
    const auto result = context.synchronize();
    if (result == cuda::success) {
      healthy = true;
      trimmer.trim_device(device);
    } else if (result != cuda::capture_unsupported && settled.error.empty()) {
      // A stream capture that the test left open also forbids to synchronise, but that is no sticky error.
      settled.error = library->describe(result);
    }
  }
  if (healthy && settled.error.empty()) {
    trimmer.trim_host();
  }
  return settled;
}

} // namespace gputest::system
