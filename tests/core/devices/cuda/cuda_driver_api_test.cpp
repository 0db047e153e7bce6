// SPDX-License-Identifier: BSD-3-Clause
// Holds what src/core/devices/cuda/cuda_driver_api.hpp declares against NVIDIA's own header, at compile time and only
// where there is one.
#include "core/devices/cuda/cuda_driver_api.hpp"

#if __has_include(<cuda.h>)

#include <cuda.h>

#include <cstddef>
#include <type_traits>

namespace gputest::devices::cuda {

static_assert(sizeof(Result) == sizeof(CUresult));
static_assert(std::is_same_v<Device, CUdevice>);
static_assert(sizeof(Context) == sizeof(CUcontext) && std::is_pointer_v<CUcontext>);
static_assert(sizeof(MemoryPool) == sizeof(CUmemoryPool) && std::is_pointer_v<CUmemoryPool>);

static_assert(sizeof(Stream) == sizeof(CUstream) && std::is_pointer_v<CUstream>);
static_assert(std::is_same_v<DevicePointer, CUdeviceptr>);

static_assert(success == CUDA_SUCCESS);
static_assert(out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(not_supported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(has_managed_memory == CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
static_assert(has_memory_pools == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
static_assert(malloc_heap_size == CU_LIMIT_MALLOC_HEAP_SIZE && printf_buffer_size == CU_LIMIT_PRINTF_FIFO_SIZE);
static_assert(pending_launches == CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT);
static_assert(fetch_granularity == CU_LIMIT_MAX_L2_FETCH_GRANULARITY);
static_assert(persisting_cache_size == CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
static_assert(sizeof(Uuid) == sizeof(CUuuid));
static_assert(pool_reserved == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT && pool_used == CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
static_assert(graphs_reserved == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
static_assert(attach_global == CU_MEM_ATTACH_GLOBAL);
static_assert(capture_unsupported == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);

// The plain names are macros for the versions that are bound by name; the arguments are what Functions says.
static_assert(std::is_same_v<decltype(&cuDeviceGetCount), CUresult (*)(int*)>);
static_assert(std::is_same_v<decltype(&cuInit), CUresult (*)(unsigned)>);
static_assert(std::is_same_v<decltype(&cuDeviceGetAttribute), CUresult (*)(int*, CUdevice_attribute, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuStreamSynchronize), CUresult (*)(CUstream)>);
static_assert(std::is_same_v<decltype(&cuCtxGetLimit), CUresult (*)(std::size_t*, CUlimit)>);
static_assert(std::is_same_v<decltype(&cuCtxGetDevice), CUresult (*)(CUdevice*)>);
static_assert(std::is_same_v<decltype(&cuCtxSetLimit), CUresult (*)(CUlimit, std::size_t)>);
static_assert(std::is_same_v<decltype(&cuMemGetInfo_v2), CUresult (*)(std::size_t*, std::size_t*)>);
static_assert(std::is_same_v<decltype(&cuMemAlloc_v2), CUresult (*)(CUdeviceptr*, std::size_t)>);
static_assert(std::is_same_v<decltype(&cuMemFree_v2), CUresult (*)(CUdeviceptr)>);
static_assert(std::is_same_v<decltype(&cuMemAllocManaged), CUresult (*)(CUdeviceptr*, std::size_t, unsigned)>);
static_assert(std::is_same_v<decltype(&cuMemAllocFromPoolAsync),
                             CUresult (*)(CUdeviceptr*, std::size_t, CUmemoryPool, CUstream)>);
static_assert(std::is_same_v<decltype(&cuMemFreeAsync), CUresult (*)(CUdeviceptr, CUstream)>);
static_assert(std::is_same_v<decltype(&cuDeviceGet), CUresult (*)(CUdevice*, int)>);
static_assert(std::is_same_v<decltype(&cuGetErrorName), CUresult (*)(CUresult, const char**)>);
static_assert(std::is_same_v<decltype(&cuDevicePrimaryCtxGetState), CUresult (*)(CUdevice, unsigned*, int*)>);
static_assert(std::is_same_v<decltype(&cuDevicePrimaryCtxRetain), CUresult (*)(CUcontext*, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuDevicePrimaryCtxRelease_v2), CUresult (*)(CUdevice)>);
static_assert(std::is_same_v<decltype(&cuCtxPushCurrent_v2), CUresult (*)(CUcontext)>);
static_assert(std::is_same_v<decltype(&cuCtxPopCurrent_v2), CUresult (*)(CUcontext*)>);
static_assert(std::is_same_v<decltype(&cuCtxSynchronize), CUresult (*)()>);
static_assert(std::is_same_v<decltype(&cuDeviceGetDefaultMemPool), CUresult (*)(CUmemoryPool*, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuDeviceGetMemPool), CUresult (*)(CUmemoryPool*, CUdevice)>);
static_assert(std::is_same_v<decltype(&cuMemPoolTrimTo), CUresult (*)(CUmemoryPool, std::size_t)>);
static_assert(std::is_same_v<decltype(&cuDeviceGraphMemTrim), CUresult (*)(CUdevice)>);
static_assert(std::is_same_v<decltype(&cuMemPoolGetAttribute), CUresult (*)(CUmemoryPool, CUmemPool_attribute, void*)>);
static_assert(
    std::is_same_v<decltype(&cuDeviceGetGraphMemAttribute), CUresult (*)(CUdevice, CUgraphMem_attribute, void*)>);

// Pools by location came with CUDA 13.0.
#if CUDA_VERSION >= 13000
static_assert(sizeof(Location) == sizeof(CUmemLocation) && offsetof(Location, type) == offsetof(CUmemLocation, type) &&
              offsetof(Location, id) == offsetof(CUmemLocation, id));
static_assert(location_none == CU_MEM_LOCATION_TYPE_NONE);
static_assert(location_device == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(location_host == CU_MEM_LOCATION_TYPE_HOST);
static_assert(pinned_memory == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(managed_memory == CU_MEM_ALLOCATION_TYPE_MANAGED);
static_assert(std::is_same_v<decltype(&cuMemGetDefaultMemPool),
                             CUresult (*)(CUmemoryPool*, CUmemLocation*, CUmemAllocationType)>);
static_assert(
    std::is_same_v<decltype(&cuMemGetMemPool), CUresult (*)(CUmemoryPool*, CUmemLocation*, CUmemAllocationType)>);
#endif

} // namespace gputest::devices::cuda

#endif
