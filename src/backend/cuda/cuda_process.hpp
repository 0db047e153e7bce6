// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backend/this_process.hpp"

namespace gputest::backend {

/// This process on the GPUs that CUDA shows it. Nothing but set_heap() and memory() loads the driver.
[[nodiscard]] ThisProcess& cuda_process();

} // namespace gputest::backend
