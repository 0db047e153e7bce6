// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace gputest::platform {

/// Ends the processes that this process has started, and those that they have started, by SIGKILL, as ctest does when
/// a test's time is over. Also those that they start meanwhile.
///
/// Their number has no limit. A process whose parent had ended before is not found. Async-signal-safe: it makes system
/// calls only, and keeps what it finds in static memory (512 KiB, untouched until then), so one thread at a time may
/// call it.
void end_descendants() noexcept;

} // namespace gputest::platform
