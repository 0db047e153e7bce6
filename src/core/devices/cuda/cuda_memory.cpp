// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_process.hpp"

#include <gputest/bytes.hpp>
#include <gputest/error.hpp>

#include <utility>

namespace gputest::devices {

namespace {

/// The driver of this process, loaded and initialised by the first call that succeeds. Throws Error where there is
/// none.
const cuda::Library& driver() {
  // Never destroyed: memory may be freed by a global variable's destructor.
  static const cuda::Library& library = *[] {
    std::string why;
    auto opened = cuda::Library::initialised(why);
    if (!opened) {
      throw Error{"memory of a GPU was asked for, and the CUDA driver cannot be used: " + why};
    }
    return new cuda::Library{std::move(*opened)}; // NOLINT(cppcoreguidelines-owning-memory)
  }();
  return library;
}

cuda::Device device_of(int ordinal) {
  cuda::Device device = 0;
  if (const auto result = driver().functions().device(&device, ordinal); result != cuda::success) {
    throw Error{"device " + std::to_string(ordinal) + " was asked for, and the CUDA driver answers " +
                driver().describe(result) + "; this process sees " + std::to_string(driver().device_count()) +
                " devices. Ask for more with the argument GPUS of its CMake function"};
  }
  return device;
}

bool attribute(int ordinal, int attribute) {
  int value = 0;
  const auto result = driver().functions().attribute(&value, attribute, device_of(ordinal));
  return result == cuda::success && value != 0;
}

cuda::Result allocate_in_context(MemoryKind kind, cuda::Device device, std::size_t bytes, cuda::Stream stream,
                                 bool wait, cuda::DevicePointer& pointer) {
  const auto& functions = driver().functions();
  const cuda::PrimaryContext context{functions, device};
  if (context.result() != cuda::success) {
    return context.result();
  }
  if (kind == MemoryKind::malloc) {
    return functions.allocate(&pointer, bytes);
  }
  if (kind == MemoryKind::managed) {
    return functions.allocate_managed(&pointer, bytes, cuda::attach_global);
  }
  if (functions.allocate_from_pool == nullptr || functions.current_pool == nullptr) {
    return cuda::not_supported;
  }
  cuda::MemoryPool pool = nullptr;
  auto result = functions.current_pool(&pool, device);
  if (result == cuda::success) {
    result = functions.allocate_from_pool(&pointer, bytes, pool, stream);
  }
  if (result == cuda::success && wait) {
    result = functions.synchronize_stream(stream);
    if (result != cuda::success) {
      functions.free_to_pool(pointer, stream);
    }
  }
  return result;
}

} // namespace

bool CudaProcess::has_pools(int ordinal) {
  const auto& functions = driver().functions();
  return functions.allocate_from_pool != nullptr && functions.free_to_pool != nullptr &&
         functions.current_pool != nullptr && attribute(ordinal, cuda::has_memory_pools);
}

bool CudaProcess::has_managed_memory(int ordinal) { return attribute(ordinal, cuda::has_managed_memory); }

void CudaProcess::keep_context(cuda::Device device) {
  const std::lock_guard guard{mutex_};
  // Without this the context, and all memory with it, would end with the last cuDevicePrimaryCtxRelease(). After a
  // cudaDeviceReset() there is a new one to keep.
  if (kept_.count(device) == 0 || !driver().has_primary_context(device)) {
    cuda::Context context = nullptr;
    if (driver().functions().primary_retain(&context, device) == cuda::success) {
      kept_.insert(device);
    }
  }
}

Bytes CudaProcess::free_bytes(int ordinal) {
  const auto device = device_of(ordinal);
  keep_context(device);
  const cuda::PrimaryContext context{driver().functions(), device};
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  auto result = context.result();
  if (result == cuda::success) {
    result = driver().functions().memory_info(&free_bytes, &total_bytes);
  }
  if (result != cuda::success) {
    throw Error{"cuMemGetInfo() of device " + std::to_string(ordinal) + " answers " + driver().describe(result)};
  }
  return Bytes{free_bytes};
}

void* CudaProcess::allocate(MemoryKind kind, int ordinal, Bytes bytes, StreamHandle stream, bool wait) {
  const auto device = device_of(ordinal);
  keep_context(device);
  cuda::DevicePointer pointer = 0;
  const auto result = allocate_in_context(kind, device, bytes.count(), stream.get(), wait, pointer);
  if (result == cuda::success) {
    return reinterpret_cast<void*>(pointer); // NOLINT(performance-no-int-to-ptr): the driver's own type
  }
  const std::string asked = to_string(bytes) + " asked of device " + std::to_string(ordinal);
  if (result == cuda::out_of_memory) {
    throw OutOfMemory{"out of memory: " + asked + ", which has " + to_string(free_bytes(ordinal)) + " free"};
  }
  throw Error{asked + ", and the CUDA driver answers " + driver().describe(result)};
}

std::string CudaProcess::free(MemoryKind kind, int ordinal, void* pointer, Bytes /*bytes*/,
                              StreamHandle stream) noexcept {
  try {
    const auto& functions = driver().functions();
    const cuda::PrimaryContext context{functions, device_of(ordinal)};
    auto result = context.result();
    const auto address = reinterpret_cast<cuda::DevicePointer>(pointer);
    if (result == cuda::success && kind == MemoryKind::pool) {
      result = functions.free_to_pool(address, stream.get());
    } else if (result == cuda::success) {
      result = functions.synchronize_stream(stream.get());
      const auto freed = functions.free(address);
      result = result == cuda::success ? freed : result;
    }
    return result == cuda::success ? "" : driver().describe(result);
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string CudaProcess::set_heap(int ordinal, Bytes heap) {
  const auto device = device_of(ordinal);
  keep_context(device);
  const cuda::PrimaryContext context{driver().functions(), device};
  auto result = context.result();
  if (result == cuda::success) {
    result = driver().functions().set_limit(cuda::malloc_heap_size, heap.count());
  }
  return result == cuda::success ? "" : driver().describe(result);
}

} // namespace gputest::devices
