// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace gputest::client {

/// Makes a process that belongs to nobody: CTest ends what is below a test whose time is over, and waits for whoever
/// has the test's output open. True in the new process, in which only these descriptors are open and the standard
/// streams are /dev/null; false in the caller.
[[nodiscard]] bool become_an_orphan(std::vector<int> kept_descriptors);

} // namespace gputest::client
