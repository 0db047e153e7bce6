// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"

namespace gputest::devices {

/// Whether this process has already initialised CUDA, so that choosing devices comes too late. Does not initialise it.
[[nodiscard]] bool cuda_is_initialised();

/// This process on the GPUs that CUDA shows it. Nothing but set_heap() and memory() loads the driver, makes a
/// context, or changes the thread's current one.
[[nodiscard]] ThisProcess& cuda_process();

} // namespace gputest::devices
