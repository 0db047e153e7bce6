// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/cuda/cuda_driver_library.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace gputest::devices {

/// How memory of a device is asked of the driver.
enum class CudaAllocator {
  malloc,  ///< cuMemAlloc() and cuMemFree(): free waits for the device's work
  pool,    ///< cuMemAllocFromPoolAsync() of the device's current pool, in the order of a stream
  managed, ///< cuMemAllocManaged(): on the device or on the host, where it is used
};

/// Memory of this process's devices, by CUDA's ordinals, through the driver's own API.
///
/// Thread-safe. The first use of a device makes its primary context, which stays until the process ends. Leaves the
/// thread's current context as it is. In a forked child everything fails with CUDA_ERROR_NOT_INITIALIZED.
class CudaMemory {
public:
  /// The driver of this process, loaded and initialised by the first call that succeeds. Throws Error where there is
  /// none.
  static CudaMemory& instance();

  /// Whether the device has memory pools, as the driver's attribute says. Makes no context.
  [[nodiscard]] bool has_pools(int ordinal) const;

  /// Whether the device has managed memory, as the driver's attribute says. Makes no context.
  [[nodiscard]] bool has_managed_memory(int ordinal) const;

  /// What is free of the device's memory.
  [[nodiscard]] std::uint64_t free_bytes(int ordinal);

  /// Allocates in the order of `stream`; null is the default stream. With `wait`, blocks until any stream may use it.
  ///
  /// Throws OutOfMemory with what is free, and Error with the driver's own name for anything else.
  [[nodiscard]] void* allocate(CudaAllocator allocator, int ordinal, std::size_t bytes, cuda::Stream stream, bool wait);

  /// Frees in the order of `stream`; with CudaAllocator::malloc and managed it blocks until the stream is done. Returns
  /// the driver's error, or nothing.
  std::string free(CudaAllocator allocator, int ordinal, void* pointer, cuda::Stream stream) noexcept;

  /// Sets the size of the heap for `malloc` in kernels, before the first of them runs. Returns the driver's error, or
  /// nothing.
  [[nodiscard]] std::string set_heap(int ordinal, std::size_t bytes);

private:
  explicit CudaMemory(cuda::Library library) : library_{std::move(library)} {}

  [[nodiscard]] cuda::Device device(int ordinal) const;
  [[nodiscard]] bool attribute(int ordinal, int attribute) const;
  void keep_context(cuda::Device device);
  [[nodiscard]] cuda::Result allocate_in_context(CudaAllocator allocator, cuda::Device device, std::size_t bytes,
                                                 cuda::Stream stream, bool wait, cuda::DevicePointer& pointer) const;

  cuda::Library library_;
  std::mutex mutex_;
  std::set<cuda::Device> kept_; ///< devices whose primary context this object holds
};

} // namespace gputest::devices
