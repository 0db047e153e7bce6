// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/command_line.hpp"

namespace gputest::tool {

/// Adds `gputest status`, which does not wait, and does not create a ledger.
void add_status(CommandLine& line);

} // namespace gputest::tool
