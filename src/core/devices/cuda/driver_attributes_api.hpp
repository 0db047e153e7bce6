// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/cuda/cuda_driver_api.hpp"

namespace gputest::devices::cuda {

// What the driver is asked about devices, by the names and numbers of cuda.h;
// tests/core/devices/cuda/driver_attributes_api_test.cpp holds them against that header where there is one.

constexpr int concurrent_managed_access = 89; // CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
constexpr int cooperative_launch = 95;        // CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
constexpr int integrated = 18;                // CU_DEVICE_ATTRIBUTE_INTEGRATED
constexpr int tcc_driver = 35;                // CU_DEVICE_ATTRIBUTE_TCC_DRIVER
constexpr int compute_capability_major = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int compute_capability_minor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR

/// The functions, bound to the library.
struct AttributeFunctions {
  int (*initialise)(unsigned flags) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device)(int* device, int ordinal) = nullptr;
  int (*uuid)(Uuid*, int device) = nullptr;
  int (*attribute)(int* value, int attribute, int device) = nullptr;
  int (*can_access_peer)(int* can, int device, int peer) = nullptr;
  int (*error_name)(int result, const char** name) = nullptr;

  /// Binds all of them; false if one is missing.
  bool bind(const os::SharedLibrary& library) {
    // The first `cuDeviceGetUuid` gives a slice the UUID of its GPU; an older driver has no other.
    return library.bind(initialise, "cuInit") && library.bind(device_count, "cuDeviceGetCount") &&
           library.bind(device, "cuDeviceGet") &&
           (library.bind(uuid, "cuDeviceGetUuid_v2") || library.bind(uuid, "cuDeviceGetUuid")) &&
           library.bind(attribute, "cuDeviceGetAttribute") && library.bind(can_access_peer, "cuDeviceCanAccessPeer") &&
           library.bind(error_name, "cuGetErrorName");
  }
};

} // namespace gputest::devices::cuda
