// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"

#include <memory>

namespace gputest::devices {

/// The same devices, each of them with at most `limit` of memory for every decision (GPUTEST_DEVICE_MEMORY).
[[nodiscard]] std::unique_ptr<DeviceList> limit_devices(std::unique_ptr<DeviceList> devices, Bytes limit);

} // namespace gputest::devices
