// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/cuda/cuda_driver_library.hpp"
#include "core/devices/device_list.hpp"

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

namespace gputest::devices {

/// Memory of this process's devices, by CUDA's ordinals, through the driver's own API.
///
/// The first use of a device makes its primary context, which stays until the process ends. Leaves the thread's current
/// context as it is. Memory of kind malloc and managed is freed when the stream is done; free() blocks until then. In a
/// forked child everything fails with CUDA_ERROR_NOT_INITIALIZED.
class CudaMemory final : public MemorySource {
public:
  /// The driver of this process, loaded and initialised by the first call that succeeds. Throws Error where there is
  /// none.
  static CudaMemory& instance();

  [[nodiscard]] bool has_pools(int device) override;
  [[nodiscard]] bool has_managed_memory(int device) override;
  [[nodiscard]] Bytes free_bytes(int device) override;
  [[nodiscard]] void* allocate(MemoryKind kind, int device, Bytes bytes, StreamHandle stream, bool wait) override;
  std::string free(MemoryKind kind, int device, void* pointer, Bytes bytes, StreamHandle stream) noexcept override;

  /// Sets the size of the heap for `malloc` in kernels, before the first of them runs. Returns the driver's error, or
  /// nothing.
  [[nodiscard]] std::string set_heap(int device, Bytes heap);

private:
  explicit CudaMemory(cuda::Library library) : library_{std::move(library)} {}
  [[nodiscard]] cuda::Device device_of(int ordinal) const;
  [[nodiscard]] bool attribute(int ordinal, int attribute) const;
  void keep_context(cuda::Device device);
  [[nodiscard]] cuda::Result allocate_in_context(MemoryKind kind, cuda::Device device, std::size_t bytes,
                                                 cuda::Stream stream, bool wait, cuda::DevicePointer& pointer) const;

  cuda::Library library_;
  std::mutex mutex_;
  std::set<cuda::Device> kept_; ///< devices whose primary context this object holds
};

} // namespace gputest::devices
