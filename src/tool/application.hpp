// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"

#include <string>
#include <vector>

namespace gputest::tool {

struct PlanArguments;
struct ReportArguments;
struct ClassifyArguments;
struct IsolateArguments;

/// The commands that only the program gputest-insights has.
struct Insights {
  ExitCode (*plan)(const PlanArguments&);
  ExitCode (*report)(const ReportArguments&);
  ExitCode (*classify)(const ClassifyArguments&);
  ExitCode (*isolate)(const IsolateArguments&);
};

/// The whole tool: reads the command line (without the program's name), does it, and returns what main() returns.
/// Without `insights`, which the program gputest has not, it becomes gputest-insights for one of those commands.
///
/// Results go to stdout, messages to stderr. A result that could not be written is a failure. Does not throw; does not
/// return if `run` becomes its command.
[[nodiscard]] int run_application(const std::vector<std::string>& arguments, const Insights* insights = nullptr);

} // namespace gputest::tool
