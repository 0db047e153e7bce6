// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/this_process.hpp"

namespace gputest::devices {

/// This process on simulated devices: its memory is counted as SimulatedBuffer's is, with addresses that are nobody
/// else's and cannot be touched.
[[nodiscard]] ThisProcess& simulated_process();

} // namespace gputest::devices
