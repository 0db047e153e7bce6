// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device_buffer.hpp"

/// Memory of a real device, through cudaMalloc. Throws gputest::OutOfMemory, or std::runtime_error for any other CUDA
/// error.
[[nodiscard]] std::unique_ptr<DeviceMemory> allocate_cuda(gputest::Bytes size, int index);

/// How many devices CUDA shows to this process; 0 without a driver.
[[nodiscard]] int cuda_device_count();
