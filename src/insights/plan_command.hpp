// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"
#include "tool/insight_arguments.hpp"

namespace gputest::insights {

/// `gputest plan`: asks ctest for its tests, reads their measured times, and prints how long they would take, or how to
/// split them. Throws Error if ctest's answer or the file of times cannot be read.
[[nodiscard]] tool::ExitCode plan_command(const tool::PlanArguments& arguments);

} // namespace gputest::insights
