// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/command_line.hpp"

namespace gputest::insights {

// Each adds `gputest <command>`.
void add_merge(tool::CommandLine& line);
void add_plan(tool::CommandLine& line);
void add_report(tool::CommandLine& line);
void add_slurm(tool::CommandLine& line);

} // namespace gputest::insights
