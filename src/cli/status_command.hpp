#pragma once

#include "cli/exit_codes.hpp"

namespace gputest::cli {

/// `gputest status`: prints who holds and who waits, on stdout. Does not wait, and does not make a ledger.
///
/// Throws InvalidSetting, LedgerError.
[[nodiscard]] ExitCode status_command(bool json);

} // namespace gputest::cli
