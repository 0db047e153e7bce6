// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <sys/types.h>

namespace gputest::supervise {

/// The processes that this process has started and those that they have started, without the children `spared` and what
/// these have started. A process whose parent has ended is found if this process is a subreaper.
[[nodiscard]] std::vector<pid_t> descendants(const std::vector<pid_t>& spared = {});

/// Ends all descendants() by SIGKILL, as ctest does when a test's time is over, also those that they start meanwhile,
/// for a second at most. False if it found further ones until then. Makes this process a subreaper. Does not wait for
/// their ends.
bool end_descendants(const std::vector<pid_t>& spared = {});

} // namespace gputest::supervise
