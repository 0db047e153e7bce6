// SPDX-License-Identifier: BSD-3-Clause
// Holds what src/core/devices/cuda/nvml_api.hpp declares against NVIDIA's own header, at compile time and only where
// there is one.
#include "core/devices/cuda/nvml_api.hpp"

#if __has_include(<nvml.h>)

#include <nvml.h>

#include <cstddef>

namespace gputest::devices::nvml {

static_assert(sizeof(Result) == sizeof(nvmlReturn_t));
static_assert(sizeof(Handle) == sizeof(nvmlDevice_t));

static_assert(success == NVML_SUCCESS);
static_assert(not_supported == NVML_ERROR_NOT_SUPPORTED);
static_assert(no_permission == NVML_ERROR_NO_PERMISSION);
static_assert(not_found == NVML_ERROR_NOT_FOUND);
static_assert(insufficient_size == NVML_ERROR_INSUFFICIENT_SIZE);
static_assert(driver_not_loaded == NVML_ERROR_DRIVER_NOT_LOADED);
static_assert(driver_version_differs == NVML_ERROR_LIB_RM_VERSION_MISMATCH);
static_assert(mig_enabled == NVML_DEVICE_MIG_ENABLE);
static_assert(mode_prohibited == NVML_COMPUTEMODE_PROHIBITED);
static_assert(mode_exclusive_process == NVML_COMPUTEMODE_EXCLUSIVE_PROCESS);
static_assert(sizeof(int) == sizeof(nvmlComputeMode_t));
static_assert(value_not_available == static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE));
static_assert(text_size >= NVML_DEVICE_UUID_V2_BUFFER_SIZE && text_size >= NVML_DEVICE_NAME_V2_BUFFER_SIZE);
static_assert(text_size >= NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);

static_assert(sizeof(Memory) == sizeof(nvmlMemory_t));
static_assert(offsetof(Memory, total) == offsetof(nvmlMemory_t, total));
static_assert(offsetof(Memory, free) == offsetof(nvmlMemory_t, free));
static_assert(offsetof(Memory, used) == offsetof(nvmlMemory_t, used));

static_assert(sizeof(MemoryV2) == sizeof(nvmlMemory_v2_t));
static_assert(memory_v2_version == nvmlMemory_v2);
static_assert(offsetof(MemoryV2, version) == offsetof(nvmlMemory_v2_t, version));
static_assert(offsetof(MemoryV2, total) == offsetof(nvmlMemory_v2_t, total));
static_assert(offsetof(MemoryV2, reserved) == offsetof(nvmlMemory_v2_t, reserved));
static_assert(offsetof(MemoryV2, free) == offsetof(nvmlMemory_v2_t, free));
static_assert(offsetof(MemoryV2, used) == offsetof(nvmlMemory_v2_t, used));

static_assert(sizeof(ProcessInfo) == sizeof(nvmlProcessInfo_v2_t));
static_assert(sizeof(ProcessInfo) == sizeof(nvmlProcessInfo_t), "what the _v3 functions fill");
static_assert(offsetof(ProcessInfo, pid) == offsetof(nvmlProcessInfo_v2_t, pid));
static_assert(offsetof(ProcessInfo, used_bytes) == offsetof(nvmlProcessInfo_v2_t, usedGpuMemory));
static_assert(offsetof(ProcessInfo, gpu_instance) == offsetof(nvmlProcessInfo_v2_t, gpuInstanceId));
static_assert(offsetof(ProcessInfo, compute_instance) == offsetof(nvmlProcessInfo_v2_t, computeInstanceId));

} // namespace gputest::devices::nvml

#endif
