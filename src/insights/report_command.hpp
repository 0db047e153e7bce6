// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"
#include "tool/insight_arguments.hpp"

namespace gputest::insights {

/// `gputest report`: writes a page about the newest run, and its trace if it is asked for. Throws Error if there is no
/// log, or if a file cannot be written.
[[nodiscard]] tool::ExitCode report_command(const tool::ReportArguments& arguments);

} // namespace gputest::insights
