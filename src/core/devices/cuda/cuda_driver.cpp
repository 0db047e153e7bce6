// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_driver.hpp"

#include "core/devices/cuda/cuda_process.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

namespace gputest::devices {

namespace {

/// The driver, once something has loaded it: looked for at each test's end, so that it is bound only once.
const cuda::Library* loaded() {
  // Never destroyed: a thread may look while the process ends.
  static auto& mutex = *new os::Mutex;                      // NOLINT(cppcoreguidelines-owning-memory)
  static auto& library = *new std::optional<cuda::Library>; // NOLINT(cppcoreguidelines-owning-memory)
  const std::lock_guard guard{mutex};
  if (!library) {
    library = cuda::Library::if_loaded();
  }
  return library ? &*library : nullptr;
}

/// Trims pools, each once however many ways lead to it. A device without pools (TCC, some vGPUs) has none to trim.
class Trimmer {
public:
  explicit Trimmer(const cuda::Functions& functions) : functions_{functions} {}

  void trim_device(cuda::Device device) {
    if (functions_.trim_graph_memory != nullptr && graphs_keep_memory(device)) {
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
        std::find(seen_.begin(), seen_.end(), pool) == seen_.end()) {
      seen_.push_back(pool);
      if (keeps_memory(pool)) {
        functions_.trim_pool(pool, 0);
      }
    }
  }

  // A driver that does not say is asked to trim: that costs time, and nothing else.

  [[nodiscard]] bool keeps_memory(cuda::MemoryPool pool) const {
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    return functions_.pool_attribute == nullptr ||
           functions_.pool_attribute(pool, cuda::pool_reserved, &reserved) != cuda::success ||
           functions_.pool_attribute(pool, cuda::pool_used, &used) != cuda::success || reserved > used;
  }

  /// Memory of graphs that are gone still counts as used, until it is trimmed (CUDA 13.0).
  [[nodiscard]] bool graphs_keep_memory(cuda::Device device) const {
    std::uint64_t reserved = 0;
    return functions_.graph_memory_attribute == nullptr ||
           functions_.graph_memory_attribute(device, cuda::graphs_reserved, &reserved) != cuda::success || reserved > 0;
  }

  const cuda::Functions& functions_;
  std::vector<cuda::MemoryPool> seen_;
};

struct Limit {
  int number;
  const char* name;
};
constexpr std::array<Limit, 5> limits{{{cuda::printf_buffer_size, "cudaLimitPrintfFifoSize"},
                                       {cuda::malloc_heap_size, "cudaLimitMallocHeapSize"},
                                       {cuda::pending_launches, "cudaLimitDevRuntimePendingLaunchCount"},
                                       {cuda::fetch_granularity, "cudaLimitMaxL2FetchGranularity"},
                                       {cuda::persisting_cache_size, "cudaLimitPersistingL2CacheSize"}}};

} // namespace

bool cuda_is_initialised() {
  const auto* const library = loaded();
  int count = 0;
  return library != nullptr && library->functions().device_count(&count) == cuda::success;
}

bool CudaProcess::in_use() const { return cuda_is_initialised(); }

/// False also before CUDA is initialised, and where the driver is too old to say.
bool CudaProcess::sees_only(const std::vector<std::string>& uuids) const {
  const auto* const library = loaded();
  int count = 0;
  if (library == nullptr || library->functions().uuid == nullptr ||
      library->functions().device_count(&count) != cuda::success) {
    return false;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cuda::Device device = 0;
    cuda::Uuid uuid{};
    if (library->functions().device(&device, ordinal) != cuda::success ||
        library->functions().uuid(&uuid, device) != cuda::success || cuda::full_uuid(uuids, uuid).empty()) {
      return false;
    }
  }
  return true;
}

/// Trims each device's default and current pool, those of managed memory and of the host's pinned memory, and what CUDA
/// graphs keep, if they hold more than is used of them. Pools that the program made and has not made current cannot be
/// found: it has to trim those itself.
DeviceStateAfterSync CudaProcess::synchronize_and_trim() {
  DeviceStateAfterSync state;
  const auto* const library = loaded();
  if (library == nullptr) {
    return state;
  }
  const auto& functions = library->functions();
  const int count = library->device_count();
  Trimmer trimmer{functions};
  std::vector<cuda::Device> healthy;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cuda::Device device = 0;
    if (functions.device(&device, ordinal) != cuda::success || !library->has_primary_context(device)) {
      continue;
    }
    state.has_context = true;
    const cuda::PrimaryContext context{functions, device};
    const auto result = context.synchronize();
    if (result == cuda::success) {
      healthy.push_back(device);
      trimmer.trim_device(device);
    } else if (result != cuda::capture_unsupported && state.error.empty()) {
      // A stream capture that the test left open also forbids to synchronise, but that is no sticky error.
      state.error = library->describe(result);
    }
  }
  if (healthy.empty() || !state.error.empty()) {
    return state;
  }
  trimmer.trim_host();
  for (const cuda::Device device : healthy) { // after all pools: managed memory of the host's can be on any of them
    const cuda::PrimaryContext context{functions, device};
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    if (context.result() == cuda::success && functions.memory_info(&free_bytes, &total_bytes) == cuda::success) {
      state.free_bytes.push_back(free_bytes);
    }
  }
  return state;
}

/// The limits are those of cudaDeviceSetLimit(), but for that of the stack: the driver raises it by itself for kernels
/// that need more.
DeviceState CudaProcess::state() const {
  DeviceState state;
  const auto* const library = loaded();
  const int count = library == nullptr ? 0 : library->device_count();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    const auto& functions = library->functions();
    cuda::Device device = 0;
    if (functions.device(&device, ordinal) != cuda::success || !library->has_primary_context(device)) {
      continue;
    }
    cuda::Device current = 0;
    if (functions.current_device != nullptr && functions.current_device(&current) == cuda::success &&
        current == device) {
      state.current = ordinal;
    }
    const cuda::PrimaryContext context{functions, device};
    auto& values = state.limits[ordinal];
    for (const auto& limit : limits) {
      std::size_t value = 0;
      if (context.result() == cuda::success && functions.get_limit != nullptr &&
          functions.get_limit(&value, limit.number) == cuda::success) {
        values[limit.name] = value;
      }
    }
  }
  return state;
}

ThisProcess& cuda_process() {
  static ThisProcess& process = *new CudaProcess; // NOLINT(cppcoreguidelines-owning-memory): globals may free memory
  return process;
}

} // namespace gputest::devices
