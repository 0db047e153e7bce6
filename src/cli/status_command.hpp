// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/exit_codes.hpp"

namespace gputest::cli {

/// `gputest status`: prints the processes that hold memory and those that wait, on stdout. Does not wait, and does not
/// create a ledger.
///
/// Throws InvalidSetting, LedgerError.
[[nodiscard]] ExitCode status_command(bool json);

/// `gputest status --watch`: shows the same on the terminal, again each second, until Ctrl-C. Throws Error if standard
/// output is no terminal.
[[nodiscard]] ExitCode watch_status();

} // namespace gputest::cli
