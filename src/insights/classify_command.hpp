// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/command_line.hpp"

namespace gputest::insights {

/// Adds `gputest classify`, which writes no file.
void add_classify(tool::CommandLine& line);

} // namespace gputest::insights
