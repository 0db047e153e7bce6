// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::metering {

// Of which devices::cuda_meter() chooses.

/// A meter that sees every call of this process to the CUDA driver that allocates or frees memory, by CUPTI's
/// callbacks: exact to the byte that was asked for.
///
/// Memory that CUDA graphs allocate is counted by the driver's own high-water mark. What kernels take of the device
/// heap is not counted, and neither are contexts and modules: none of them is allocated by a call. Memory of another
/// process that this one opens is the other's.
///
/// Null, with the reason, where there is no CUPTI, or another tool has subscribed to it (CUPTI up to 13.2 lets one
/// subscribe: a profiler, compute-sanitizer). Call it before the process's first CUDA call, after devices were chosen:
/// what was allocated earlier is not known. Takes about 4 ms (H200). `cuda_folder` is searched first; empty: none.
[[nodiscard]] std::unique_ptr<devices::Meter> open_cupti_meter(const std::string& cuda_folder, std::string& why);

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
