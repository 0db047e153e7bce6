// SPDX-License-Identifier: BSD-3-Clause
// A libcuda.so.1 without a driver: enough of it to allocate memory and to settle a process's GPU work. It answers as
// FakeCuda says and counts.
#include "support/fake_cuda.hpp"

#include "core/devices/cuda/cuda_driver_api.hpp"

#include <array>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace {

namespace cuda = gputest::devices::cuda;
using gputest::tests::FakeCuda;

constexpr cuda::Result invalid_value = 1;     // CUDA_ERROR_INVALID_VALUE
constexpr cuda::Result not_initialized = 3;   // CUDA_ERROR_NOT_INITIALIZED
constexpr cuda::Result invalid_device = 101;  // CUDA_ERROR_INVALID_DEVICE
constexpr cuda::Result invalid_context = 201; // CUDA_ERROR_INVALID_CONTEXT
constexpr cuda::Result illegal_address = 700; // CUDA_ERROR_ILLEGAL_ADDRESS
using cuda::not_supported;

FakeCuda state;

// Tells that this library was loaded, even when it is gone again.
[[gnu::constructor]] void tell() { setenv("FAKE_CUDA_WAS_LOADED", "1", 1); }

// A device's context and pools are told apart by the address of its members.
FakeCuda::Device& at(cuda::Device device) { return state.device.at(static_cast<std::size_t>(device)); }
void* context_of(cuda::Device device) { return &at(device); }
void* default_pool_of(cuda::Device device) { return &at(device).default_pool_trimmed; }
void* current_pool_of(cuda::Device device) { return &at(device).current_pool_trimmed; }

// The pools of a location, by the counters of their trims.
cuda::Result pool_at(cuda::MemoryPool* pool, const cuda::Location& location, int memory_type) {
  if (location.type == cuda::location_device && memory_type == cuda::managed_memory) {
    *pool = &at(location.id).managed_pool_trimmed;
    return cuda::success;
  }
  static std::array<int, 3> host_pools;
  const bool managed_anywhere = location.type == cuda::location_none && memory_type == cuda::managed_memory;
  if (managed_anywhere || location.type == cuda::location_host) {
    *pool = &host_pools.at(static_cast<std::size_t>(managed_anywhere ? 0 : memory_type));
    return cuda::success;
  }
  return invalid_value;
}

// Whether a process of the same server of MPS has written that its error reaches all.
bool server_has_error() {
  const char* const folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  return folder != nullptr && ::access((std::string{folder} + "/error").c_str(), F_OK) == 0;
}

// The context that the calling thread works in.
FakeCuda::Device* current() { return state.depth == 0 ? nullptr : &at(state.stack.at(state.depth - 1)); }

cuda::Result allocate(const char* function, cuda::DevicePointer* pointer, std::size_t bytes, void* stream) {
  state.calls.emplace_back(function);
  if (current() == nullptr) {
    return invalid_context;
  }
  if (bytes == 0) {
    return invalid_value;
  }
  if (state.allocate_result != cuda::success) {
    return state.allocate_result;
  }
  auto& device = *current();
  if (bytes > device.total_bytes - device.used_bytes) {
    return cuda::out_of_memory;
  }
  device.used_bytes += bytes;
  static cuda::DevicePointer next = 0x10000;
  *pointer = next;
  next += bytes + 0x100;
  state.allocations[*pointer] = {state.stack.at(state.depth - 1), bytes, function, stream};
  return cuda::success;
}

cuda::Result free(const char* function, cuda::DevicePointer pointer) {
  state.calls.emplace_back(function);
  const auto found = state.allocations.find(pointer);
  if (found == state.allocations.end()) {
    return invalid_value;
  }
  if (state.free_result != cuda::success) {
    return state.free_result;
  }
  auto& device = at(found->second.device);
  if (device.pools_keep && found->second.function == "cuMemAllocFromPoolAsync") {
    device.kept_bytes += found->second.bytes;
  } else {
    device.used_bytes -= found->second.bytes;
  }
  state.allocations.erase(found);
  return cuda::success;
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
extern "C" {

FakeCuda* fake_cuda() { return &state; }

cuda::Result cuInit(unsigned /*flags*/) {
  state.initialised = state.initialised || state.init_result == cuda::success;
  return state.init_result;
}

cuda::Result cuDeviceGetCount(int* count) {
  *count = state.devices;
  return state.initialised ? cuda::success : not_initialized;
}

cuda::Result cuDeviceGet(cuda::Device* device, int ordinal) {
  if (!state.initialised) {
    return not_initialized;
  }
  *device = ordinal;
  return ordinal >= 0 && ordinal < state.devices ? cuda::success : invalid_device;
}

cuda::Result cuDeviceGetAttribute(int* value, int attribute, cuda::Device device) {
  if (attribute != cuda::has_memory_pools && attribute != cuda::has_managed_memory) {
    return invalid_value;
  }
  *value = (attribute == cuda::has_memory_pools ? at(device).has_pools : at(device).has_managed) ? 1 : 0;
  return cuda::success;
}

cuda::Result cuGetErrorName(cuda::Result result, const char** name) {
  *name = result == 1     ? "CUDA_ERROR_INVALID_VALUE"
          : result == 3   ? "CUDA_ERROR_NOT_INITIALIZED"
          : result == 100 ? "CUDA_ERROR_NO_DEVICE"
          : result == 101 ? "CUDA_ERROR_INVALID_DEVICE"
          : result == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : result == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
          : result == 900 ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
                          : nullptr;
  return *name != nullptr ? cuda::success : invalid_value;
}

cuda::Result cuDevicePrimaryCtxGetState(cuda::Device device, unsigned* flags, int* active) {
  *flags = 0;
  *active = at(device).active ? 1 : 0;
  return cuda::success;
}

cuda::Result cuDevicePrimaryCtxRetain(cuda::Context* context, cuda::Device device) {
  *context = context_of(device);
  ++at(device).retained;
  at(device).active = true;
  return cuda::success;
}

cuda::Result cuDevicePrimaryCtxRelease_v2(cuda::Device device) {
  --at(device).retained;
  return cuda::success;
}

cuda::Result cuCtxPushCurrent_v2(cuda::Context context) {
  for (int device = 0; device < state.devices; ++device) {
    if (context == context_of(device)) {
      state.stack.at(state.depth++) = device;
      return cuda::success;
    }
  }
  return invalid_context;
}

cuda::Result cuCtxPopCurrent_v2(cuda::Context* context) {
  if (state.depth == 0) {
    return invalid_context;
  }
  *context = context_of(state.stack.at(--state.depth));
  return cuda::success;
}

cuda::Result cuCtxSynchronize() {
  if (state.depth == 0) {
    return invalid_context;
  }
  auto& device = at(state.stack.at(state.depth - 1));
  ++device.synchronized;
  return device.synchronize_result == cuda::success && server_has_error() ? illegal_address : device.synchronize_result;
}

cuda::Result cuDeviceGetDefaultMemPool(cuda::MemoryPool* pool, cuda::Device device) {
  *pool = default_pool_of(device);
  return at(device).has_pools ? cuda::success : not_supported;
}

cuda::Result cuDeviceGetMemPool(cuda::MemoryPool* pool, cuda::Device device) {
  *pool = at(device).own_current_pool ? current_pool_of(device) : default_pool_of(device);
  return at(device).has_pools ? cuda::success : not_supported;
}

cuda::Result cuMemGetDefaultMemPool(cuda::MemoryPool* pool, cuda::Location* location, int memory_type) {
  return pool_at(pool, *location, memory_type);
}

cuda::Result cuMemGetMemPool(cuda::MemoryPool* pool, cuda::Location* location, int memory_type) {
  return pool_at(pool, *location, memory_type);
}

cuda::Result cuMemPoolTrimTo(cuda::MemoryPool pool, std::size_t kept_bytes) {
  if (kept_bytes != 0) {
    return invalid_value;
  }
  ++*static_cast<int*>(pool);
  bool of_device = false;
  for (int device = 0; device < state.devices; ++device) {
    of_device = of_device || pool == &at(device).managed_pool_trimmed;
    if (pool == default_pool_of(device) || pool == current_pool_of(device)) {
      of_device = true;
      at(device).used_bytes -= at(device).kept_bytes;
      at(device).kept_bytes = 0;
    }
  }
  state.host_pools_trimmed += of_device ? 0 : 1;
  return cuda::success;
}

cuda::Result cuMemPoolGetAttribute(cuda::MemoryPool pool, int attribute, void* value) {
  if (attribute != cuda::pool_reserved && attribute != cuda::pool_used) {
    return invalid_value;
  }
  std::uint64_t kept = state.pools_keep_bytes;
  for (int device = 0; device < state.devices; ++device) {
    kept += pool == default_pool_of(device) || pool == current_pool_of(device) ? at(device).kept_bytes : 0;
  }
  constexpr std::uint64_t used = 5;
  *static_cast<std::uint64_t*>(value) = attribute == cuda::pool_used ? used : used + kept;
  return cuda::success;
}

cuda::Result cuDeviceGetGraphMemAttribute(cuda::Device device, int attribute, void* value) {
  if (attribute != cuda::graphs_reserved) {
    return invalid_value;
  }
  *static_cast<std::uint64_t*>(value) = at(device).graphs_keep_bytes;
  return cuda::success;
}

cuda::Result cuStreamSynchronize(cuda::Stream /*stream*/) {
  state.calls.emplace_back("cuStreamSynchronize");
  return current() != nullptr ? cuda::success : invalid_context;
}

cuda::Result cuCtxSetLimit(int limit, std::size_t value) {
  if (current() == nullptr) {
    return invalid_context;
  }
  if (current()->set_limit_result == cuda::success) {
    current()->limits[limit] = value;
  }
  return current()->set_limit_result;
}

cuda::Result cuCtxGetLimit(std::size_t* value, int limit) {
  if (current() == nullptr) {
    return invalid_context;
  }
  *value = current()->limits[limit];
  return cuda::success;
}

cuda::Result cuCtxGetDevice(cuda::Device* device) {
  if (current() == nullptr) {
    return invalid_context;
  }
  *device = state.stack.at(state.depth - 1);
  return cuda::success;
}

cuda::Result cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  if (current() == nullptr) {
    return invalid_context;
  }
  *free_bytes = current()->total_bytes - current()->used_bytes;
  *total_bytes = current()->total_bytes;
  return cuda::success;
}

cuda::Result cuMemAlloc_v2(cuda::DevicePointer* pointer, std::size_t bytes) {
  return allocate("cuMemAlloc", pointer, bytes, nullptr);
}

cuda::Result cuMemAllocManaged(cuda::DevicePointer* pointer, std::size_t bytes, unsigned flags) {
  return flags == cuda::attach_global ? allocate("cuMemAllocManaged", pointer, bytes, nullptr) : invalid_value;
}

cuda::Result cuMemAllocFromPoolAsync(cuda::DevicePointer* pointer, std::size_t bytes, cuda::MemoryPool pool,
                                     cuda::Stream stream) {
  const int device = state.depth == 0 ? 0 : state.stack.at(state.depth - 1);
  const void* const expected = at(device).own_current_pool ? current_pool_of(device) : default_pool_of(device);
  return pool == expected ? allocate("cuMemAllocFromPoolAsync", pointer, bytes, stream) : invalid_value;
}

cuda::Result cuMemFree_v2(cuda::DevicePointer pointer) { return free("cuMemFree", pointer); }

cuda::Result cuMemFreeAsync(cuda::DevicePointer pointer, cuda::Stream /*stream*/) {
  return free("cuMemFreeAsync", pointer);
}

cuda::Result cuDeviceGraphMemTrim(cuda::Device device) {
  ++at(device).graph_memory_trimmed;
  return cuda::success;
}
}
// NOLINTEND(readability-identifier-naming)
