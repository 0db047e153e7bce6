// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "workers/meeting_place.hpp"
#include "workers/test_case.hpp"

namespace gputest::workers {

/// Starts a supervisor: a process that starts the test executable as a worker, and takes jobs for it. It belongs to
/// nobody: CTest ends what is below a test whose time is over. `start_lock` is the lock of those that start one, which
/// the supervisor gives up when its worker is ready. `why` is for the run log. Returns in the caller only: false if no
/// process could be made, errno says why.
///
/// A supervisor ends its worker, and all that the worker has started, when a client goes away in the middle of its case
/// or ctest has ended. It ends itself when the worker has.
[[nodiscard]] bool start_supervisor(MeetingPlace& place, const TestCase& test, Descriptor start_lock,
                                    const std::string& why);

} // namespace gputest::workers
