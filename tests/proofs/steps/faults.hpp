// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/tracee.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace gputest::tests {

/// Name of a system call, for messages; its number if it is not one that the ledger is known to make.
[[nodiscard]] std::string name_of(const SystemCall& call);

/// The errors with which the kernel may end this call. Empty if it cannot fail, or only on a descriptor that is none.
[[nodiscard]] std::vector<int> errors_of(const SystemCall& call);

/// Whether the error is one that would come again if the call were made again.
[[nodiscard]] bool lasts(int error);

/// Whether the call is made all the same when it fails, as close() is.
[[nodiscard]] bool is_made_though_it_fails(const SystemCall& call);

/// Whether it may be of the allocator and not of the library.
[[nodiscard]] bool is_of_the_allocator(const SystemCall& call);

/// Whether it may be of notifying somebody's wake-up FIFO, or of seeing who is to be notified.
[[nodiscard]] bool may_be_of_notifying(const SystemCall& call);

/// Whether it writes a piece of a file.
[[nodiscard]] bool writes_a_file(const SystemCall& call);

/// Whether it tries to lock the mutex between processes, or unlocks it.
[[nodiscard]] bool sets_a_lock(const SystemCall& call);

/// Whether it is the pause before the mutex, which another process has, is tried again.
[[nodiscard]] bool waits_for_a_mutex(const SystemCall& call);

/// Whether it is the one in which a process waits for its turn.
[[nodiscard]] bool is_sleep(const SystemCall& call);

/// Whether it reads from a file: it blocks only at a pipe that is empty.
[[nodiscard]] bool reads(const SystemCall& call);

/// Longer than any time-out that a scenario lets pass.
constexpr std::chrono::milliseconds longest_wait{60000};

/// Whether it does so without a time-out to speak of.
[[nodiscard]] bool sleeps_until_woken(const SystemCall& call);

} // namespace gputest::tests
