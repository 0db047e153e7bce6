// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/shared_library.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gputest::devices::cuda {

// What gputest needs of the CUDA driver's ABI, so that it builds without NVIDIA's headers. Names and numbers are those
// of cuda.h (CUDA driver API reference); tests/core/devices/cuda/cuda_driver_api_test.cpp holds them against that
// header where there is one.

using Result = int;                       // CUresult
using Device = int;                       // CUdevice
using Context = void*;                    // CUcontext, a pointer to an incomplete type
using MemoryPool = void*;                 // CUmemoryPool, likewise
using Stream = void*;                     // CUstream, likewise
using DevicePointer = unsigned long long; // CUdeviceptr

using Uuid = std::array<unsigned char, 16>; // CUuuid, 16 bytes

/// CUmemLocation: where a memory pool is.
struct Location {
  int type;
  int id;
};

constexpr Result success = 0;               // CUDA_SUCCESS
constexpr Result out_of_memory = 2;         // CUDA_ERROR_OUT_OF_MEMORY
constexpr Result not_supported = 801;       // CUDA_ERROR_NOT_SUPPORTED
constexpr Result capture_unsupported = 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED

constexpr int integrated = 18;                // CU_DEVICE_ATTRIBUTE_INTEGRATED
constexpr int compute_capability_major = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int compute_capability_minor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
constexpr int has_managed_memory = 83;        // CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
constexpr int concurrent_managed_access = 89; // CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
constexpr int cooperative_launch = 95;        // CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
constexpr int has_memory_pools = 115;         // CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED

constexpr int location_none = 0;   // CU_MEM_LOCATION_TYPE_NONE
constexpr int location_device = 1; // CU_MEM_LOCATION_TYPE_DEVICE
constexpr int location_host = 2;   // CU_MEM_LOCATION_TYPE_HOST
constexpr int pinned_memory = 1;   // CU_MEM_ALLOCATION_TYPE_PINNED: all memory that stays where it was made
constexpr int managed_memory = 2;  // CU_MEM_ALLOCATION_TYPE_MANAGED

constexpr int printf_buffer_size = 1;    // CU_LIMIT_PRINTF_FIFO_SIZE
constexpr int malloc_heap_size = 2;      // CU_LIMIT_MALLOC_HEAP_SIZE
constexpr int pending_launches = 4;      // CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
constexpr int fetch_granularity = 5;     // CU_LIMIT_MAX_L2_FETCH_GRANULARITY
constexpr int persisting_cache_size = 6; // CU_LIMIT_PERSISTING_L2_CACHE_SIZE

constexpr int pool_reserved = 5;   // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
constexpr int pool_used = 7;       // CU_MEMPOOL_ATTR_USED_MEM_CURRENT
constexpr int graphs_reserved = 2; // CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT

constexpr unsigned attach_global = 1; // CU_MEM_ATTACH_GLOBAL

/// The functions, bound to the library. The pools came with CUDA 11.2, those by location with CUDA 13.0: null in an
/// older driver.
struct Functions {
  Result (*initialise)(unsigned flags) = nullptr;
  Result (*device_count)(int*) = nullptr;
  Result (*device)(Device*, int ordinal) = nullptr;
  Result (*attribute)(int* value, int attribute, Device) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*primary_state)(Device, unsigned* flags, int* active) = nullptr;
  Result (*primary_retain)(Context*, Device) = nullptr;
  Result (*primary_release)(Device) = nullptr;
  Result (*push_context)(Context) = nullptr;
  Result (*pop_context)(Context*) = nullptr;
  Result (*synchronize)() = nullptr;
  Result (*synchronize_stream)(Stream) = nullptr;
  Result (*set_limit)(int limit, std::size_t value) = nullptr;
  Result (*memory_info)(std::size_t* free_bytes, std::size_t* total_bytes) = nullptr;
  Result (*allocate)(DevicePointer*, std::size_t bytes) = nullptr;
  Result (*allocate_managed)(DevicePointer*, std::size_t bytes, unsigned flags) = nullptr;
  Result (*free)(DevicePointer) = nullptr;

  Result (*allocate_from_pool)(DevicePointer*, std::size_t bytes, MemoryPool, Stream) = nullptr; ///< optional
  Result (*free_to_pool)(DevicePointer, Stream) = nullptr;                                       ///< optional
  Result (*default_pool)(MemoryPool*, Device) = nullptr;                                         ///< optional
  Result (*current_pool)(MemoryPool*, Device) = nullptr;                                         ///< optional
  Result (*default_pool_at)(MemoryPool*, Location*, int memory_type) = nullptr;                  ///< optional
  Result (*current_pool_at)(MemoryPool*, Location*, int memory_type) = nullptr;                  ///< optional
  Result (*trim_pool)(MemoryPool, std::size_t kept_bytes) = nullptr;                             ///< optional
  Result (*pool_attribute)(MemoryPool, int attribute, void* value) = nullptr;                    ///< optional
  Result (*trim_graph_memory)(Device) = nullptr; ///< optional: memory that CUDA graphs allocated
  Result (*graph_memory_attribute)(Device, int attribute, void* value) = nullptr; ///< optional
  Result (*uuid)(Uuid*, Device) = nullptr;                                        ///< optional
  Result (*get_limit)(std::size_t* value, int limit) = nullptr;                   ///< optional
  Result (*can_access_peer)(int* can, Device, Device peer) = nullptr;             ///< optional
  Result (*current_device)(Device*) = nullptr; ///< optional: the device of the thread's current context

  /// Binds all of them; false if a required one is missing.
  bool bind(const os::SharedLibrary& library);
};

} // namespace gputest::devices::cuda
