// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/devices/this_process.hpp"
#include "core/policy/simulated_devices.hpp"

#include <memory>
#include <string>

namespace gputest::devices {

/// The simulated devices of this machine: one store in `folder` for each setting, in which processes count what they
/// use.
[[nodiscard]] std::unique_ptr<DeviceList> open_simulated(const policy::SimulatedDevices& setting,
                                                         const std::string& folder);

/// UUIDs of the simulated devices of a setting, in order.
[[nodiscard]] std::vector<std::string> simulated_uuids(const policy::SimulatedDevices& setting);

/// This process on simulated devices: its memory is counted as SimulatedBuffer's is, with addresses that are nobody
/// else's and cannot be touched.
[[nodiscard]] ThisProcess& simulated_process();

} // namespace gputest::devices
