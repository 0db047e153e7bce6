// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::workers {

/// Runs the command of an entry as a child, and ends as CTest is to see it: returns an exit code, or ends this process
/// by a signal. The time limit is that of GPUTEST_TIMEOUT.
///
/// Becomes the command if no ctest has started it for an entry, or if a debugger holds this process.
[[nodiscard]] int watch(std::vector<std::string> command);

} // namespace gputest::workers
