#pragma once

#include "cli/exit_codes.hpp"
#include "cli/run_arguments.hpp"
#include "session/session.hpp"

namespace gputest::cli {

/// `gputest run`: waits for the GPU memory, then becomes the command. Returns only if the command does not start.
///
/// The command replaces this process (exec) instead of being its child. So it has the pid that ctest started: ctest's
/// kill, the terminal's signals and the exit status need nobody to pass them on. And the kernel keeps the place on the
/// ledger for as long as a process that inherited it lives: the command, or whatever the command left behind on the
/// GPU.
///
/// Throws InvalidSetting, LedgerError.
[[nodiscard]] ExitCode run_command(const RunArguments& arguments);

/// How the tool ends where a session did not grant what was asked.
[[nodiscard]] ExitCode exit_code_of(const session::Outcome& outcome);

} // namespace gputest::cli
