// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace gputest::supervise {

enum class Orphaning { failed, in_caller, in_orphan };

/// Makes a process that belongs to nobody: CTest ends what is below a test whose time is over, and waits for whoever
/// has the test's output open. Returns in both; in the new process only these descriptors are open, and the standard
/// streams are /dev/null, or of no use where that cannot be opened. `failed`: there is none; errno says why.
[[nodiscard]] Orphaning become_an_orphan(std::vector<int> kept_descriptors);

} // namespace gputest::supervise
