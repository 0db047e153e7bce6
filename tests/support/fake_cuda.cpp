// A libcuda.so.1 without a driver: enough of it to settle a process's GPU work. It answers as FakeCuda says and counts.
#include "support/fake_cuda.hpp"

#include "system/cuda_driver_api.hpp"

#include <cstdlib>

namespace {

namespace cuda = gputest::system::cuda;
using gputest::tests::FakeCuda;

constexpr cuda::Result invalid_value = 1;     // CUDA_ERROR_INVALID_VALUE
constexpr cuda::Result not_initialized = 3;   // CUDA_ERROR_NOT_INITIALIZED
constexpr cuda::Result invalid_context = 201; // CUDA_ERROR_INVALID_CONTEXT
constexpr cuda::Result not_supported = 801;   // CUDA_ERROR_NOT_SUPPORTED

FakeCuda state;

// Tells that this library was loaded, even when it is gone again.
[[gnu::constructor]] void tell() { setenv("FAKE_CUDA_WAS_LOADED", "1", 1); }

// A device's context and pools are told apart by the address of its members.
FakeCuda::Device& at(cuda::Device device) { return state.device.at(static_cast<std::size_t>(device)); }
void* context_of(cuda::Device device) { return &at(device); }
void* default_pool_of(cuda::Device device) { return &at(device).default_pool_trimmed; }
void* current_pool_of(cuda::Device device) { return &at(device).current_pool_trimmed; }

} // namespace

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
extern "C" {

FakeCuda* fake_cuda() { return &state; }

cuda::Result cuDeviceGetCount(int* count) {
  *count = state.devices;
  return state.initialised ? cuda::success : not_initialized;
}

cuda::Result cuDeviceGet(cuda::Device* device, int ordinal) {
  *device = ordinal;
  return state.initialised ? cuda::success : not_initialized;
}

cuda::Result cuGetErrorName(cuda::Result result, const char** name) {
  *name = result == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
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
  if (at(device).retain_result == cuda::success) {
    ++at(device).retained;
    at(device).active = true;
  }
  return at(device).retain_result;
}

cuda::Result cuDevicePrimaryCtxRelease_v2(cuda::Device device) {
  --at(device).retained;
  return cuda::success;
}

cuda::Result cuCtxPushCurrent_v2(cuda::Context context) {
  for (int device = 0; device < state.devices; ++device) {
    if (context == context_of(device)) {
      if (at(device).push_result == cuda::success) {
        state.stack.at(state.depth++) = device;
      }
      return at(device).push_result;
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
  return device.synchronize_result;
}

cuda::Result cuDeviceGetDefaultMemPool(cuda::MemoryPool* pool, cuda::Device device) {
  *pool = default_pool_of(device);
  return at(device).has_pools ? cuda::success : not_supported;
}

cuda::Result cuDeviceGetMemPool(cuda::MemoryPool* pool, cuda::Device device) {
  *pool = at(device).own_current_pool ? current_pool_of(device) : default_pool_of(device);
  return at(device).has_pools ? cuda::success : not_supported;
}

cuda::Result cuMemPoolTrimTo(cuda::MemoryPool pool, std::size_t kept_bytes) {
  if (kept_bytes != 0) {
    return invalid_value;
  }
  ++*static_cast<int*>(pool);
  return cuda::success;
}

cuda::Result cuDeviceGraphMemTrim(cuda::Device device) {
  ++at(device).graph_memory_trimmed;
  return cuda::success;
}
}
// NOLINTEND(readability-identifier-naming)
