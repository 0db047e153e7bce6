// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/exit_codes.hpp"
#include "cli/plan_arguments.hpp"

namespace gputest::cli {

/// `gputest plan`: asks ctest for its tests, reads their measured times, and prints how long they would take, or how to
/// split them. Throws Error if ctest's answer or the file of times cannot be read.
[[nodiscard]] ExitCode plan_command(const PlanArguments& arguments);

} // namespace gputest::cli
