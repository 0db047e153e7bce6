// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backend/allocation_book.hpp"

#include <gputest/settings.hpp>

namespace gputest::backend {

/// The memory of simulated devices that this process has allocated; a context and a device heap are not in it. Never
/// destroyed: memory may be freed by a global variable's destructor.
[[nodiscard]] AllocationBook& simulated_book();

/// What measures it: exact. With MeterSetting::sampled it tells what samples would, a lower bound without kinds.
[[nodiscard]] Meter& simulated_meter(MeterSetting setting);

} // namespace gputest::backend
