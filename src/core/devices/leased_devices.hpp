// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"

#include <memory>
#include <vector>

namespace gputest::devices {

/// GPUs of which the process that leased them has said what they are called and how much memory they have.
///
/// What runs under that lease needs no more as a rule. NVML, which takes 18 ms to open (H200), is opened by whatever
/// else is asked of them. A device that has gone since is full then, and has nothing that could be required of it.
[[nodiscard]] std::unique_ptr<DeviceList> leased_devices(std::vector<Device> devices);

} // namespace gputest::devices
