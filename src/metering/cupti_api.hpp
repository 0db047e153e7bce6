// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/cuda/cuda_driver_api.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gputest::metering::cupti {

// What gputest needs of CUPTI's ABI (11.2 and newer), so that it builds without NVIDIA's headers. Names and numbers are
// those of cupti_callbacks.h, cupti_driver_cbid.h and generated_cuda_meta.h; tests/metering/cupti_api_test.cpp
// holds them against these headers where they are. CUPTI never changes the number of a function or the layout of its
// parameters: a new layout has a new name and number.

using Result = int;          // CUptiResult
using Subscriber = void*;    // CUpti_SubscriberHandle
using Domain = int;          // CUpti_CallbackDomain
using CallbackId = unsigned; // CUpti_CallbackId

constexpr Result success = 0;               // CUPTI_SUCCESS
constexpr Result subscriber_taken = 39;     // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
constexpr Domain driver_api = 1;            // CUPTI_CB_DOMAIN_DRIVER_API
constexpr Domain resource = 3;              // CUPTI_CB_DOMAIN_RESOURCE
constexpr CallbackId context_destroyed = 2; // CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING
constexpr int entered = 0;                  // CUPTI_API_ENTER

/// CUpti_CallbackData
struct CallData {
  int site; ///< `entered`, or left
  const char* function_name;
  const void* parameters;
  const void* return_value; ///< of devices::cuda::Result; when left
  const char* symbol_name;
  devices::cuda::Context context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};

/// The beginning of CUpti_ResourceData.
struct ResourceData {
  devices::cuda::Context context;
};

using Callback = void (*)(void* user_data, Domain, CallbackId, const void* data);

/// The driver's functions that make or free memory of devices, or tell what is free, by CUpti_driver_api_trace_cbid.
/// `_ptsz` ones are for streams of a thread.
enum class Call : CallbackId {
  cuArrayDestroy = 89,
  cuMemGetInfo_v2 = 242,
  cuMemAlloc_v2 = 243,
  cuMemAllocPitch_v2 = 244,
  cuMemFree_v2 = 245,
  cuArrayCreate_v2 = 272,
  cuArray3DCreate_v2 = 274,
  cuMipmappedArrayCreate = 347,
  cuMipmappedArrayDestroy = 349,
  cuMemAllocManaged = 371,
  cuMemCreate = 549,
  cuMemRelease = 550,
  cuMemMap = 551,
  cuMemUnmap = 552,
  cuMemRetainAllocationHandle = 565,
  cuMemAllocAsync = 598,
  cuMemAllocAsync_ptsz = 599,
  cuMemFreeAsync = 600,
  cuMemFreeAsync_ptsz = 601,
  cuMemPoolCreate = 607,
  cuMemAllocFromPoolAsync = 611,
  cuMemAllocFromPoolAsync_ptsz = 612,
};

/// All but the launches of graphs.
inline constexpr std::array all_calls{Call::cuArrayDestroy,
                                      Call::cuMemGetInfo_v2,
                                      Call::cuMemAlloc_v2,
                                      Call::cuMemAllocPitch_v2,
                                      Call::cuMemFree_v2,
                                      Call::cuArrayCreate_v2,
                                      Call::cuArray3DCreate_v2,
                                      Call::cuMipmappedArrayCreate,
                                      Call::cuMipmappedArrayDestroy,
                                      Call::cuMemAllocManaged,
                                      Call::cuMemCreate,
                                      Call::cuMemRelease,
                                      Call::cuMemMap,
                                      Call::cuMemUnmap,
                                      Call::cuMemRetainAllocationHandle,
                                      Call::cuMemAllocAsync,
                                      Call::cuMemAllocAsync_ptsz,
                                      Call::cuMemFreeAsync,
                                      Call::cuMemFreeAsync_ptsz,
                                      Call::cuMemPoolCreate,
                                      Call::cuMemAllocFromPoolAsync,
                                      Call::cuMemAllocFromPoolAsync_ptsz};

using VirtualMemory = unsigned long long; // CUmemGenericAllocationHandle

/// CUDA_ARRAY_DESCRIPTOR
struct ArrayDescriptor {
  std::size_t width;
  std::size_t height; ///< 0: the array has one dimension
  unsigned format;    ///< CUarray_format
  unsigned channels;
};

/// CUDA_ARRAY3D_DESCRIPTOR
struct Array3dDescriptor {
  std::size_t width;
  std::size_t height;
  std::size_t depth; ///< or layers; 0: none
  unsigned format;
  unsigned channels;
  unsigned flags;
};

/// The beginning of CUmemAllocationProp and of CUmemPoolProps.
struct VirtualMemoryProperties {
  int type;
  int handle_types;
  devices::cuda::Location location;
};

// The parameters of the calls, as the driver's functions have them.

/// cuMemAlloc, and the beginning of those of cuMemAllocManaged.
struct AllocParameters {
  devices::cuda::DevicePointer* pointer;
  std::size_t bytes;
};
struct AllocPitchParameters {
  devices::cuda::DevicePointer* pointer;
  std::size_t* pitch;
  std::size_t width_bytes;
  std::size_t height;
  unsigned element_bytes;
};
struct AllocAsyncParameters {
  devices::cuda::DevicePointer* pointer;
  std::size_t bytes;
  devices::cuda::Stream stream;
};
struct AllocFromPoolParameters {
  devices::cuda::DevicePointer* pointer;
  std::size_t bytes;
  devices::cuda::MemoryPool pool;
  devices::cuda::Stream stream;
};
struct PoolCreateParameters {
  devices::cuda::MemoryPool* pool;
  const VirtualMemoryProperties* properties;
};
struct GetInfoParameters {
  std::size_t* free;
  std::size_t* total;
};
struct FreeParameters {
  devices::cuda::DevicePointer pointer;
};
struct FreeAsyncParameters {
  devices::cuda::DevicePointer pointer;
  devices::cuda::Stream stream;
};
struct ArrayCreateParameters {
  void** array;
  const ArrayDescriptor* descriptor;
};
struct Array3dCreateParameters {
  void** array;
  const Array3dDescriptor* descriptor;
};
struct MipmappedArrayCreateParameters {
  void** array;
  const Array3dDescriptor* descriptor;
  unsigned levels;
};
/// cuArrayDestroy, cuMipmappedArrayDestroy
struct ArrayDestroyParameters {
  void* array;
};
struct CreateParameters {
  VirtualMemory* handle;
  std::size_t bytes;
  const VirtualMemoryProperties* properties;
  unsigned long long flags;
};
struct ReleaseParameters {
  VirtualMemory handle;
};
struct MapParameters {
  devices::cuda::DevicePointer pointer;
  std::size_t bytes;
  std::size_t offset;
  VirtualMemory handle;
  unsigned long long flags;
};
struct UnmapParameters {
  devices::cuda::DevicePointer pointer;
  std::size_t bytes;
};
struct RetainParameters {
  VirtualMemory* handle;
  void* address;
};

/// CUPTI's functions.
struct Functions {
  Result (*subscribe)(Subscriber*, Callback, void* user_data) = nullptr;
  Result (*unsubscribe)(Subscriber) = nullptr;
  Result (*enable_callback)(std::uint32_t enable, Subscriber, Domain, CallbackId) = nullptr;
  Result (*device_of_context)(devices::cuda::Context, std::uint32_t* device) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;

  /// Binds all of them; false if one is missing.
  bool bind(const os::SharedLibrary& library);
};

/// The driver's functions that a meter asks, from libcuda.
struct DriverFunctions {
  devices::cuda::Result (*is_capturing)(devices::cuda::Stream, int* status) = nullptr;
  devices::cuda::Result (*is_capturing_ptsz)(devices::cuda::Stream, int* status) = nullptr;
  devices::cuda::Result (*pointer_attribute)(void* value, int attribute, devices::cuda::DevicePointer) = nullptr;
  devices::cuda::Result (*device_count)(int*) = nullptr;
  devices::cuda::Result (*primary_state)(devices::cuda::Device, unsigned* flags, int* active) = nullptr;
  devices::cuda::Result (*graph_memory)(devices::cuda::Device, int attribute,
                                        void* value) = nullptr; ///< optional: CUDA 11.4
  devices::cuda::Result (*set_graph_memory)(devices::cuda::Device, int attribute,
                                            void* value) = nullptr; ///< optional: CUDA 11.4

  /// Binds all of them; false if a required one is missing.
  bool bind(const os::SharedLibrary& library);
};

constexpr int pointer_memory_type = 2;    // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned host_memory = 1;       // CU_MEMORYTYPE_HOST
constexpr unsigned layered_array = 0x01;  // CUDA_ARRAY3D_LAYERED
constexpr unsigned cubemap_array = 0x04;  // CUDA_ARRAY3D_CUBEMAP
constexpr unsigned sparse_array = 0x40;   // CUDA_ARRAY3D_SPARSE
constexpr unsigned deferred_array = 0x80; // CUDA_ARRAY3D_DEFERRED_MAPPING
constexpr int pointer_device = 9;         // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr int graphs_used_most = 1;       // CU_GRAPH_MEM_ATTR_USED_MEM_HIGH

} // namespace gputest::metering::cupti
