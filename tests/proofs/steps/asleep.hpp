// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

namespace gputest::tests {

/// Whether a process of this test is blocked in poll(), so that it has looked at everything that happened before.
[[nodiscard]] bool sleeps_in_poll(pid_t process);

/// Whether it reads, as one that waits for its next command does.
[[nodiscard]] bool sleeps_in_read(pid_t process);

/// Whether it pauses before it tries a mutex again.
[[nodiscard]] bool sleeps_for_a_mutex(pid_t process);

/// Whether it sleeps in poll(), and no time-out of its own will ever wake it: only a notify or a hang-up can.
[[nodiscard]] bool sleeps_for_ever(pid_t process);
} // namespace gputest::tests
