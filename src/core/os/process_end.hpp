// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace gputest::os {

/// Calls `handler` with the exit status when exit() is called or main() returns, before the handlers and destructors
/// that exist already. Not for _exit(), quick_exit() or a signal. A forked process calls it, too.
void call_at_exit(void (*handler)(int status));

/// Writes what was printed to the standard streams. Not to all streams: another thread may keep the lock of one that it
/// reads, for as long as it blocks there.
void write_what_was_printed();

/// Ends the process at once with this status, after what was printed has been written. No destructor or exit handler
/// runs.
[[noreturn]] void end_now(int status);

} // namespace gputest::os
