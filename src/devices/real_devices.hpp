#pragma once

#include "devices/device_list.hpp"

#include <memory>
#include <string>

namespace gputest::devices {

/// The GPUs and MIG slices that NVML shows; null, with the reason in `why_none`, where NVML cannot be used.
///
/// Where NVML can be used but shows no usable device the list is empty and `why_none` says so.
[[nodiscard]] std::unique_ptr<DeviceList> open_real(std::string& why_none);

} // namespace gputest::devices
