// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"

namespace gputest::tool {

/// `gputest status`: prints the processes that hold memory and those that wait, on stdout. Does not wait, and does not
/// create a ledger.
///
/// Throws InvalidSetting, LedgerError.
[[nodiscard]] ExitCode status_command(bool json);

} // namespace gputest::tool
