// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace gputest::platform {

/// How a command ended.
struct CommandEnd {
  int error = 0;  ///< errno's value if it was not started
  int status = 0; ///< its exit status, if no signal ended it
  int signal = 0; ///< what ended it; 0 if it exited
};

/// Runs a command, whose name is looked for in PATH, as a child, and blocks until it has ended.
///
/// Calls `look`, if it is given, about ten times a second while the command runs.
///
/// The child is killed if this process dies. Signals that are sent to this process are passed on to it; those that a
/// terminal sends reach it by themselves. From a process with one thread, in which these signals stay blocked: how the
/// command ended is to be told, whatever was sent to both.
[[nodiscard]] CommandEnd run_supervised(std::vector<std::string> command, const std::function<void()>& look = {});

/// Lets the signals that run_supervised() has blocked end this process again, also those that came meanwhile.
void unblock_signals();

} // namespace gputest::platform
