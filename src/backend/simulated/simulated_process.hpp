// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backend/this_process.hpp"

namespace gputest::backend {

/// This process on simulated devices: its memory is counted as SimulatedBuffer's is, with addresses that are nobody
/// else's and cannot be touched.
[[nodiscard]] ThisProcess& simulated_process();

} // namespace gputest::backend
