// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>

namespace gputest::tests {

/// A system call that a traced process is about to make, or has made.
struct SystemCall {
  long number = -1;
  unsigned long arguments[4] = {};
};

/// Name of a system call, for messages; its number if it is not one that the ledger is known to make.
[[nodiscard]] std::string name_of(const SystemCall& call);

/// The errors with which the kernel may end this call. Empty if it cannot fail, or only on a descriptor that is none.
[[nodiscard]] std::vector<int> errors_of(const SystemCall& call);

/// Whether the error is one that would come again if the call were made again.
[[nodiscard]] bool lasts(int error);

/// Whether it may be of the allocator and not of the library.
[[nodiscard]] bool is_of_the_allocator(const SystemCall& call);

/// Whether it may be of notifying somebody's wake-up FIFO, or of seeing who is to be notified.
[[nodiscard]] bool may_be_of_notifying(const SystemCall& call);

/// Whether the call is made all the same when it fails.
inline bool is_made_though_it_fails(const SystemCall& call) { return call.number == SYS_close; }

inline bool writes_a_file(const SystemCall& call) { return call.number == SYS_pwrite64; }

/// Whether it tries to lock the mutex between processes, or unlocks it.
inline bool sets_a_lock(const SystemCall& call) { return call.number == SYS_fcntl && call.arguments[1] == F_SETLK; }

/// Whether it is the one in which a process waits for its turn.
inline bool is_sleep(const SystemCall& call) { return call.number == SYS_ppoll; }

/// Whether it is that one, without a time-out.
[[nodiscard]] bool sleeps_until_woken(const SystemCall& call);

/// Whether it is the pause before the mutex, which another process has, is tried again: the library sleeps for nothing
/// else.
inline bool waits_for_a_mutex(const SystemCall& call) {
  return call.number == SYS_clock_nanosleep || call.number == SYS_nanosleep;
}

// Whether a process of this test is blocked:

/// in ppoll(), so that it has looked at everything that happened before;
[[nodiscard]] bool sleeps_in_poll(pid_t process);
/// in read(), as one that waits for its next command does;
[[nodiscard]] bool sleeps_in_read(pid_t process);
/// in the pause before it tries a mutex again;
[[nodiscard]] bool sleeps_for_a_mutex(pid_t process);
/// in ppoll(), where no time-out of its own will wake it: only a notify or a hang-up can.
[[nodiscard]] bool sleeps_for_ever(pid_t process);

} // namespace gputest::tests
