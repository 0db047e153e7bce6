// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/shared_library.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputest::devices {
struct ProcessMemory;
} // namespace gputest::devices

namespace gputest::devices::nvml {

// What gputest needs of NVML's ABI, so that it builds without NVIDIA's headers. Names and numbers are those of nvml.h
// (NVML API reference, "Enums" and "Structs"); tests/core/devices/cuda/nvml_api_test.cpp holds them against that header
// where there is one.

using Result = int;   // nvmlReturn_t
using Handle = void*; // nvmlDevice_t, a pointer to an incomplete type

constexpr Result success = 0;                 // NVML_SUCCESS
constexpr Result not_supported = 3;           // NVML_ERROR_NOT_SUPPORTED
constexpr Result no_permission = 4;           // NVML_ERROR_NO_PERMISSION
constexpr Result not_found = 6;               // NVML_ERROR_NOT_FOUND
constexpr Result insufficient_size = 7;       // NVML_ERROR_INSUFFICIENT_SIZE
constexpr Result driver_not_loaded = 9;       // NVML_ERROR_DRIVER_NOT_LOADED
constexpr Result driver_version_differs = 18; // NVML_ERROR_LIB_RM_VERSION_MISMATCH

constexpr unsigned mig_enabled = 1;                       // NVML_DEVICE_MIG_ENABLE
constexpr int mode_prohibited = 2;                        // NVML_COMPUTEMODE_PROHIBITED
constexpr int mode_exclusive_process = 3;                 // NVML_COMPUTEMODE_EXCLUSIVE_PROCESS
constexpr unsigned long long value_not_available = ~0ULL; // NVML_VALUE_NOT_AVAILABLE, -1
constexpr unsigned text_size = 96; // NVML_DEVICE_UUID_V2_BUFFER_SIZE, NVML_DEVICE_NAME_V2_BUFFER_SIZE: the largest used

/// nvmlMemory_t.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used; ///< what the driver reserves included
};

/// nvmlMemory_v2_t.
struct MemoryV2 {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used; ///< what the driver reserves not included
};

/// nvmlMemory_v2: NVML_STRUCT_VERSION(Memory, 2), the size with the version in the top byte.
constexpr unsigned memory_v2_version = static_cast<unsigned>(sizeof(MemoryV2)) | 2U << 24U;

/// nvmlProcessInfo_v2_t.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

using ProcessQuery = Result(Handle, unsigned* count, ProcessInfo*);

/// The functions, bound to the library. Those marked optional are null if the driver is too old for them.
struct Functions {
  Result (*initialise)() = nullptr;
  Result (*shut_down)() = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*device_count)(unsigned*) = nullptr;
  Result (*device_handle)(unsigned index, Handle*) = nullptr;
  Result (*uuid)(Handle, char*, unsigned size) = nullptr;
  Result (*name)(Handle, char*, unsigned size) = nullptr;
  Result (*memory)(Handle, Memory*) = nullptr;

  Result (*memory_v2)(Handle, MemoryV2*) = nullptr;                       ///< optional
  Result (*driver_version)(char*, unsigned size) = nullptr;               ///< optional
  Result (*mig_mode)(Handle, unsigned* now, unsigned* next) = nullptr;    ///< optional
  Result (*largest_mig_count)(Handle, unsigned*) = nullptr;               ///< optional
  Result (*mig_handle)(Handle, unsigned index, Handle*) = nullptr;        ///< optional
  Result (*compute_capability)(Handle, int* major, int* minor) = nullptr; ///< optional
  Result (*compute_mode)(Handle, int*) = nullptr;                         ///< optional
  Result (*numa_node)(Handle, unsigned*) = nullptr;                       ///< optional
  ProcessQuery* compute_processes = nullptr;                              ///< optional
  ProcessQuery* graphics_processes = nullptr;                             ///< optional
  ProcessQuery* mps_processes = nullptr;                                  ///< optional: clients of the MPS server

  /// Binds all of them; false, with the name of what is missing in `missing`, if a required one is not there.
  bool bind(const os::SharedLibrary& library, std::string& missing);
};

/// One device's memory, whichever of NVML's two queries answers.
struct MemoryFigures {
  std::uint64_t total_bytes = 0;
  std::uint64_t reserved_bytes = 0; ///< 0 if only the older query answers
  std::uint64_t used_bytes = 0;     ///< from the older query: what the driver reserves included
};

/// Reads a device's memory; anything but `success` leaves `figures` alone.
[[nodiscard]] Result read_memory(const Functions& functions, Handle device, MemoryFigures& figures);

/// The processes on a device, each once; nullopt if the compute processes cannot be listed.
[[nodiscard]] std::optional<std::vector<ProcessMemory>> list_processes(const Functions& functions, Handle device);

} // namespace gputest::devices::nvml
