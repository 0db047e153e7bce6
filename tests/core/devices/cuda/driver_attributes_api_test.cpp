// SPDX-License-Identifier: BSD-3-Clause
// Holds what src/system/driver_attributes_api.hpp declares against NVIDIA's own header, at compile time and only where
// there is one.
#include "core/devices/cuda/driver_attributes_api.hpp"

#if __has_include(<cuda.h>)

#include <cuda.h>

#include <type_traits>

namespace gputest::devices::cuda {

static_assert(concurrent_managed_access == CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
static_assert(cooperative_launch == CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
static_assert(integrated == CU_DEVICE_ATTRIBUTE_INTEGRATED);
static_assert(tcc_driver == CU_DEVICE_ATTRIBUTE_TCC_DRIVER);
static_assert(compute_capability_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(compute_capability_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(sizeof(Uuid) == sizeof(CUuuid));
static_assert(std::is_same_v<decltype(&cuInit), CUresult (*)(unsigned)>);
static_assert(std::is_same_v<decltype(&cuDeviceGetUuid_v2), CUresult (*)(CUuuid*, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuDeviceGetAttribute), CUresult (*)(int*, CUdevice_attribute, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuDeviceCanAccessPeer), CUresult (*)(int*, CUdevice, CUdevice)>);

} // namespace gputest::devices::cuda

#endif
