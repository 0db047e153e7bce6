// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/command_line.hpp"

namespace gputest::tool {

/// Adds `gputest run`.
void add_run(CommandLine& line);

} // namespace gputest::tool
