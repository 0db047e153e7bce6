// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"

#include <memory>
#include <string>

namespace gputest::devices {

/// Whether this process has already initialised CUDA, so that choosing devices comes too late. Does not initialise it.
[[nodiscard]] bool cuda_is_initialised();

/// This process on the GPUs that CUDA shows it: CudaProcess.
[[nodiscard]] ThisProcess& cuda_process();

/// The GPUs and MIG slices that NVML shows; null, with the reason in `why_none`, if NVML cannot be used.
///
/// If NVML can be used but shows no usable device, the list is empty and `why_none` says so.
[[nodiscard]] std::unique_ptr<DeviceList> open_real(std::string& why_none, const Settings& settings = {});

} // namespace gputest::devices
