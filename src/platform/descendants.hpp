// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

namespace gputest::platform {

/// Ends the processes that this process has started, and those that they have started, by SIGKILL, as ctest does when
/// a test's time is over. Also those that they start meanwhile.
///
/// Children of this process whose pids are in the range of the arguments are spared, with all that they have started.
/// The number of processes has no limit. A process whose parent had ended before is not found. Async-signal-safe: it
/// makes system calls only, and keeps what it finds in static memory (512 KiB, untouched until then), so one thread at
/// a time may call it.
void end_descendants(const pid_t* first_spared = nullptr, const pid_t* last_spared = nullptr) noexcept;

} // namespace gputest::platform
