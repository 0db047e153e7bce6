// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/command_line.hpp"

namespace gputest::insights {

/// Adds `gputest plan`.
void add_plan(tool::CommandLine& line);

} // namespace gputest::insights
