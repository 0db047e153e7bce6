#pragma once

#include "system/shared_library.hpp"

#include <cstddef>

namespace gputest::system::cuda {

// What gputest needs of the CUDA driver's ABI, so that it builds without NVIDIA's headers. Names and numbers are those
// of cuda.h (CUDA driver API reference); tests/system/cuda_driver_api_test.cpp holds them against that header where
// there is one.

using Result = int;       // CUresult
using Device = int;       // CUdevice
using Context = void*;    // CUcontext, a pointer to an incomplete type
using MemoryPool = void*; // CUmemoryPool, likewise

constexpr Result success = 0;               // CUDA_SUCCESS
constexpr Result capture_unsupported = 900; // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED

/// The functions, bound to the library. The pools came with CUDA 11.2: null in an older driver.
struct Functions {
  Result (*device_count)(int*) = nullptr;
  Result (*device)(Device*, int ordinal) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*primary_state)(Device, unsigned* flags, int* active) = nullptr;
  Result (*primary_retain)(Context*, Device) = nullptr;
  Result (*primary_release)(Device) = nullptr;
  Result (*push_context)(Context) = nullptr;
  Result (*pop_context)(Context*) = nullptr;
  Result (*synchronize)() = nullptr;

  Result (*default_pool)(MemoryPool*, Device) = nullptr;             ///< optional
  Result (*current_pool)(MemoryPool*, Device) = nullptr;             ///< optional
  Result (*trim_pool)(MemoryPool, std::size_t kept_bytes) = nullptr; ///< optional
  Result (*trim_graph_memory)(Device) = nullptr;                     ///< optional: memory that CUDA graphs allocated

  /// Binds all of them; false if a required one is missing.
  bool bind(const SharedLibrary& library);
};

} // namespace gputest::system::cuda
