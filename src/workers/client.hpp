// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "workers/test_case.hpp"

namespace gputest::workers {

/// Runs the case in a worker of this ctest run, or in a process of its own, and ends as that case has: returns its exit
/// code, or ends this process by the same signal. Blocks until the case has ended.
[[nodiscard]] int run_case(const TestCase& test);

} // namespace gputest::workers
