// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::metering {

/// A meter that asks from time to time what this process has of each device, its context included: a lower bound,
/// without kinds, and without managed memory where the device does not list it. `because` says why it has to.
///
/// `own_bytes` is asked by a thread of its own, every 10 ms, while a period lasts. It gives the figures in the order of
/// CUDA's numbers, 0 for a device without a context, nullopt where the device does not say; none while the process uses
/// no device. `in_use` says whether the process uses devices: if it does, and no device lists it, nothing is known. A
/// thread beside a period is needed even before there is a context, because nothing tells when it is made. Forked
/// processes have none: nothing is known.
[[nodiscard]] std::unique_ptr<devices::Meter>
make_sampled_meter(std::function<std::vector<std::optional<Bytes>>()> own_bytes, std::function<bool()> in_use,
                   std::string because);

/// One for the devices that CUDA_VISIBLE_DEVICES names, by NVML's lists of processes.
[[nodiscard]] std::unique_ptr<devices::Meter> open_nvml_meter(std::string because);

} // namespace gputest::metering
