// SPDX-License-Identifier: BSD-3-Clause
// Holds what src/metering/cupti_api.hpp declares against NVIDIA's own headers, at compile time and only where they
// are.
#include "metering/cupti_api.hpp"

#if __has_include(<cupti.h>)

#include <cuda.h>
#include <cupti.h>

#include <cstddef>

namespace gputest::metering::cupti {

static_assert(success == CUPTI_SUCCESS && subscriber_taken == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(driver_api == CUPTI_CB_DOMAIN_DRIVER_API && resource == CUPTI_CB_DOMAIN_RESOURCE);
static_assert(context_destroyed == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
static_assert(entered == CUPTI_API_ENTER);
static_assert(pointer_device == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(graphs_used_most == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH);

static_assert(sizeof(CallData) == sizeof(CUpti_CallbackData));
static_assert(offsetof(CallData, parameters) == offsetof(CUpti_CallbackData, functionParams));
static_assert(offsetof(CallData, return_value) == offsetof(CUpti_CallbackData, functionReturnValue));
static_assert(offsetof(CallData, context) == offsetof(CUpti_CallbackData, context));
static_assert(offsetof(ResourceData, context) == offsetof(CUpti_ResourceData, context));

// NOLINTBEGIN(cppcoreguidelines-macro-usage): they paste names.
#define GPUTEST_SAME_CALL(name) static_assert(static_cast<int>(Call::name) == CUPTI_DRIVER_TRACE_CBID_##name)
#define GPUTEST_SAME_MEMBER(ours, member, theirs, their_member)                                                        \
  static_assert(offsetof(ours, member) == offsetof(theirs, their_member) &&                                            \
                sizeof(ours::member) == sizeof(theirs::their_member))
// NOLINTEND(cppcoreguidelines-macro-usage)

static_assert(pointer_memory_type == CU_POINTER_ATTRIBUTE_MEMORY_TYPE && host_memory == CU_MEMORYTYPE_HOST);
static_assert(sparse_array == CUDA_ARRAY3D_SPARSE && deferred_array == CUDA_ARRAY3D_DEFERRED_MAPPING);

GPUTEST_SAME_CALL(cuArrayDestroy);
GPUTEST_SAME_CALL(cuMemGetInfo_v2);
GPUTEST_SAME_CALL(cuMemAlloc_v2);
GPUTEST_SAME_CALL(cuMemAllocPitch_v2);
GPUTEST_SAME_CALL(cuMemFree_v2);
GPUTEST_SAME_CALL(cuArrayCreate_v2);
GPUTEST_SAME_CALL(cuArray3DCreate_v2);
GPUTEST_SAME_CALL(cuMipmappedArrayCreate);
GPUTEST_SAME_CALL(cuMipmappedArrayDestroy);
GPUTEST_SAME_CALL(cuMemAllocManaged);
GPUTEST_SAME_CALL(cuMemCreate);
GPUTEST_SAME_CALL(cuMemRelease);
GPUTEST_SAME_CALL(cuMemMap);
GPUTEST_SAME_CALL(cuMemUnmap);
GPUTEST_SAME_CALL(cuMemRetainAllocationHandle);
GPUTEST_SAME_CALL(cuMemAllocAsync);
GPUTEST_SAME_CALL(cuMemAllocAsync_ptsz);
GPUTEST_SAME_CALL(cuMemFreeAsync);
GPUTEST_SAME_CALL(cuMemFreeAsync_ptsz);
GPUTEST_SAME_CALL(cuMemPoolCreate);
GPUTEST_SAME_CALL(cuMemAllocFromPoolAsync);
GPUTEST_SAME_CALL(cuMemAllocFromPoolAsync_ptsz);

GPUTEST_SAME_MEMBER(AllocParameters, pointer, cuMemAlloc_v2_params, dptr);
GPUTEST_SAME_MEMBER(AllocParameters, bytes, cuMemAlloc_v2_params, bytesize);
GPUTEST_SAME_MEMBER(AllocPitchParameters, pitch, cuMemAllocPitch_v2_params, pPitch);
GPUTEST_SAME_MEMBER(AllocPitchParameters, height, cuMemAllocPitch_v2_params, Height);
GPUTEST_SAME_MEMBER(AllocParameters, pointer, cuMemAllocManaged_params, dptr);
GPUTEST_SAME_MEMBER(AllocParameters, bytes, cuMemAllocManaged_params, bytesize);
GPUTEST_SAME_MEMBER(AllocAsyncParameters, pointer, cuMemAllocAsync_params, dptr);
GPUTEST_SAME_MEMBER(AllocAsyncParameters, bytes, cuMemAllocAsync_params, bytesize);
GPUTEST_SAME_MEMBER(AllocAsyncParameters, stream, cuMemAllocAsync_params, hStream);
GPUTEST_SAME_MEMBER(AllocAsyncParameters, stream, cuMemAllocAsync_ptsz_params, hStream);
GPUTEST_SAME_MEMBER(AllocFromPoolParameters, bytes, cuMemAllocFromPoolAsync_params, bytesize);
GPUTEST_SAME_MEMBER(AllocFromPoolParameters, stream, cuMemAllocFromPoolAsync_params, hStream);
GPUTEST_SAME_MEMBER(AllocFromPoolParameters, stream, cuMemAllocFromPoolAsync_ptsz_params, hStream);
GPUTEST_SAME_MEMBER(AllocFromPoolParameters, pool, cuMemAllocFromPoolAsync_params, pool);
GPUTEST_SAME_MEMBER(AllocPitchParameters, width_bytes, cuMemAllocPitch_v2_params, WidthInBytes);
GPUTEST_SAME_MEMBER(PoolCreateParameters, pool, cuMemPoolCreate_params, pool);
GPUTEST_SAME_MEMBER(PoolCreateParameters, properties, cuMemPoolCreate_params, poolProps);
static_assert(offsetof(VirtualMemoryProperties, location) == offsetof(CUmemPoolProps, location));
GPUTEST_SAME_MEMBER(GetInfoParameters, free, cuMemGetInfo_v2_params, free);
GPUTEST_SAME_MEMBER(FreeParameters, pointer, cuMemFree_v2_params, dptr);
GPUTEST_SAME_MEMBER(FreeAsyncParameters, pointer, cuMemFreeAsync_params, dptr);
GPUTEST_SAME_MEMBER(FreeAsyncParameters, stream, cuMemFreeAsync_params, hStream);
GPUTEST_SAME_MEMBER(FreeAsyncParameters, stream, cuMemFreeAsync_ptsz_params, hStream);
GPUTEST_SAME_MEMBER(ArrayCreateParameters, array, cuArrayCreate_v2_params, pHandle);
GPUTEST_SAME_MEMBER(ArrayCreateParameters, descriptor, cuArrayCreate_v2_params, pAllocateArray);
GPUTEST_SAME_MEMBER(Array3dCreateParameters, descriptor, cuArray3DCreate_v2_params, pAllocateArray);
GPUTEST_SAME_MEMBER(MipmappedArrayCreateParameters, descriptor, cuMipmappedArrayCreate_params, pMipmappedArrayDesc);
GPUTEST_SAME_MEMBER(MipmappedArrayCreateParameters, levels, cuMipmappedArrayCreate_params, numMipmapLevels);
GPUTEST_SAME_MEMBER(ArrayDestroyParameters, array, cuArrayDestroy_params, hArray);
GPUTEST_SAME_MEMBER(ArrayDestroyParameters, array, cuMipmappedArrayDestroy_params, hMipmappedArray);
GPUTEST_SAME_MEMBER(CreateParameters, handle, cuMemCreate_params, handle);
GPUTEST_SAME_MEMBER(CreateParameters, bytes, cuMemCreate_params, size);
GPUTEST_SAME_MEMBER(CreateParameters, properties, cuMemCreate_params, prop);
GPUTEST_SAME_MEMBER(ReleaseParameters, handle, cuMemRelease_params, handle);
GPUTEST_SAME_MEMBER(MapParameters, pointer, cuMemMap_params, ptr);
GPUTEST_SAME_MEMBER(MapParameters, handle, cuMemMap_params, handle);
GPUTEST_SAME_MEMBER(UnmapParameters, pointer, cuMemUnmap_params, ptr);
GPUTEST_SAME_MEMBER(UnmapParameters, bytes, cuMemUnmap_params, size);
GPUTEST_SAME_MEMBER(RetainParameters, handle, cuMemRetainAllocationHandle_params, handle);

GPUTEST_SAME_MEMBER(ArrayDescriptor, width, CUDA_ARRAY_DESCRIPTOR, Width);
GPUTEST_SAME_MEMBER(ArrayDescriptor, height, CUDA_ARRAY_DESCRIPTOR, Height);
GPUTEST_SAME_MEMBER(ArrayDescriptor, format, CUDA_ARRAY_DESCRIPTOR, Format);
GPUTEST_SAME_MEMBER(ArrayDescriptor, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels);
GPUTEST_SAME_MEMBER(Array3dDescriptor, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth);
GPUTEST_SAME_MEMBER(Array3dDescriptor, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
GPUTEST_SAME_MEMBER(Array3dDescriptor, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
GPUTEST_SAME_MEMBER(VirtualMemoryProperties, location, CUmemAllocationProp, location);

} // namespace gputest::metering::cupti

#endif
