// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/command_line.hpp"

namespace gputest::insights {

/// Adds `gputest report`.
void add_report(tool::CommandLine& line);

} // namespace gputest::insights
