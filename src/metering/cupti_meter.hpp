// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/meter.hpp"

#include <memory>
#include <string>

namespace gputest::metering {

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

} // namespace gputest::metering
