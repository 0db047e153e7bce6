// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/this_process.hpp"

namespace gputest::devices {

/// This process on the GPUs that CUDA shows it. Nothing but set_heap() and memory() loads the driver.
[[nodiscard]] ThisProcess& cuda_process();

} // namespace gputest::devices
