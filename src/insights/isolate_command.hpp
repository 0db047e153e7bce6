// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/command_line.hpp"

namespace gputest::insights {

/// Adds `gputest isolate`, which blocks for as long as its runs take.
void add_isolate(tool::CommandLine& line);

} // namespace gputest::insights
