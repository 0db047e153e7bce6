// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/cuda/cuda_driver_library.hpp"
#include "core/devices/device_list.hpp"
#include "core/os/mutex.hpp"

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace gputest::devices {

/// This process on the GPUs that CUDA shows it, by CUDA's ordinals, through the driver's own API.
///
/// set_heap() and the functions for memory load and initialise the driver, and make a device's primary context, which
/// stays until the process ends. Nothing else does, and nothing changes the thread's current context. Memory of kind
/// malloc and managed is freed when the stream is done; free() blocks until then. In a forked child all memory fails
/// with CUDA_ERROR_NOT_INITIALIZED. Defined in cuda_driver.cpp (state) and cuda_memory.cpp (memory).
class CudaProcess final : public ThisProcess {
public:
  [[nodiscard]] bool in_use() const override;
  [[nodiscard]] DeviceStateAfterSync synchronize_and_trim() override;
  [[nodiscard]] DeviceState state() const override;
  [[nodiscard]] Meter& meter(MeterSetting setting) override { return cuda_meter(setting); }
  [[nodiscard]] bool sees_only(const std::vector<std::string>& uuids) const override;
  [[nodiscard]] std::string set_heap(int device, Bytes heap) override;
  [[nodiscard]] bool lists_managed_memory() const override { return false; }
  [[nodiscard]] bool has_pools(int device) override;
  [[nodiscard]] bool has_managed_memory(int device) override;
  [[nodiscard]] Bytes free_bytes(int device) override;
  [[nodiscard]] void* allocate(MemoryKind kind, int device, Bytes bytes, StreamHandle stream, bool wait) override;
  std::string free(MemoryKind kind, int device, void* pointer, Bytes bytes, StreamHandle stream) noexcept override;

private:
  void keep_context(cuda::Device device);

  os::Mutex mutex_;
  std::set<cuda::Device> kept_; ///< devices whose primary context this object holds
};

} // namespace gputest::devices
