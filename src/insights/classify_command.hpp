// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"
#include "tool/insight_arguments.hpp"

namespace gputest::insights {

/// `gputest classify`: prints what tests declare beside what was measured of them, and what to write instead,
/// or that as a patch. Writes no file. Throws Error if there is no log.
[[nodiscard]] tool::ExitCode classify_command(const tool::ClassifyArguments& arguments);

} // namespace gputest::insights
