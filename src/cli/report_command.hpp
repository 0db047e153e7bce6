// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/exit_codes.hpp"

#include <string>

namespace gputest::cli {

/// What the command line of `gputest report` says.
struct ReportArguments {
  std::string folder = "."; ///< --test-dir: where ctest was started
  std::string log;    ///< --log: a file or a folder; empty: what GPUTEST_LOG names, or Testing/gputest in `folder`
  std::string output; ///< --output; empty: gputest_report.html
  std::string trace;  ///< --trace; empty: none
  std::string index;  ///< of CMake's instrumentation, which names it to all that it calls; not used
};

/// `gputest report`: writes a page about the newest run, and its trace if it is asked for. Throws Error if there is no
/// log, or if a file cannot be written.
[[nodiscard]] ExitCode report_command(const ReportArguments& arguments);

} // namespace gputest::cli
