// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/insight_arguments.hpp"
#include "tool/run_arguments.hpp"

#include <memory>

namespace CLI {
class App;
}

namespace gputest::tool {

/// What the command line says.
struct CommandLine {
  RunArguments run;
  PlanArguments plan;
  ReportArguments report;
  ClassifyArguments classify;
  IsolateArguments isolate;
  bool json = false;
  std::string resource_spec_folder; ///< of `gputest devices --resource-spec`; empty: not asked for
};

/// The commands and options of the tool, described once: CLI11 parses by it, and the manual page is made of
/// it. Parsing fills `into`, which has to live as long.
[[nodiscard]] std::unique_ptr<CLI::App> describe_command_line(CommandLine& into);

} // namespace gputest::tool
