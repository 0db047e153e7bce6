// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"
#include "core/os/test_status_page.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::supervise {

class Relays;

/// What is watched of a command while it runs.
struct Watch {
  std::chrono::nanoseconds limit{0};  ///< for which it may run; 0: for ever
  os::TestStatusPage* page = nullptr; ///< of an entry: its processes' waits do not count; may be null
  std::function<void()> on_interval;  ///< is called each `interval`; may be empty
  std::chrono::milliseconds interval{100};
  bool withholds_output = false; ///< until it is known whether the entry runs again: that of such a command is dropped
  int first_signal = 0;          ///< when the limit is over, the command alone is sent it; 0: none
  std::chrono::nanoseconds grace{0}; ///< then: for which it, and what keeps its output open, may go on
};

/// How a command ended.
struct CommandEnd {
  int error = 0;  ///< errno's value if it was not started
  int status = 0; ///< its exit status, if no signal ended it
  int signal = 0; ///< what ended it; 0 if it exited
  bool timed_out = false;
  bool runs_again = false;      ///< a process of its entry was stopped for that (policy::runs_again())
  pid_t process = 0;            ///< its own
  std::string left_behind = {}; ///< if it had ended before its limit: the processes that kept its output open
};

/// Runs a command, whose name is looked for in PATH, as a child, and blocks until it has ended.
///
/// When its limit is over, and after it the time for `first_signal`, all processes below this one are killed. With a
/// limit and a page it passes the output of the command on, if this process's own is a pipe, and blocks as long as
/// anybody keeps it open: CTest waits for that. When the limit is over then, only these processes are killed, as far as
/// they are found below this one. What has an output of its own is left alone.
///
/// If a process of the entry was stopped, so that the entry is to run again, all that the command has left below this
/// one is killed.
///
/// The child is killed if this process dies. Signals that are sent to this process are passed on to it; those to its
/// process group, as a terminal sends them, reach it by themselves, once. From a process with one thread, which becomes
/// a subreaper if there is a page, and in which these signals stay blocked: how the command ended is to be told,
/// whatever was sent to both. Throws Error if the kernel refuses to wait for the command, which then ends with this
/// process.
[[nodiscard]] CommandEnd run_supervised(std::vector<std::string> command, const Watch& watch = {});

/// Blocks until nobody can write to the relays any more, or `until` is readable, and at most until the limit is over,
/// which began at `begun`. Then processes of this user that can write to them are killed. What to say of these, or
/// nothing. Throws as Relays::wait().
[[nodiscard]] std::string wait_for_output(Relays& relays, const Watch& watch, os::KernelClock::time_point begun,
                                          const os::Descriptor& until);

/// What is left of a limit that began at `begun`, or less, after which to ask again whether a process of the entry
/// waits; nullopt: there is none.
[[nodiscard]] std::optional<std::chrono::nanoseconds> time_left(const Watch& watch, os::KernelClock::time_point begun);

/// How a process ended whose waitpid() status this is: `by the signal Aborted`, `with the exit code 3`.
[[nodiscard]] std::string describe_end(int status);

/// Whether a case with this exit code has passed, or was skipped.
[[nodiscard]] bool does_not_fail(int exit_code);

/// Ends this process by the signal, even if it is handled or blocked, without a core file. What was printed is written.
[[noreturn]] void end_by_signal(int signal);

/// From now on a write that cannot be done fails, and this process is not ended by the signal: SIGPIPE, SIGXFSZ.
/// Commands start without that.
void block_in_this_process(int signal);

/// Becomes this program (execve), after a fork, or ends with 127.
[[noreturn]] void execute(std::vector<std::string> command, std::vector<std::string> environment);

} // namespace gputest::supervise
