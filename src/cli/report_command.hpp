// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/exit_codes.hpp"
#include "report/run_log_files.hpp"

#include <string>
#include <vector>

namespace gputest::cli {

/// What the command line of `gputest report` says.
struct ReportArguments {
  std::string folder = "."; ///< --test-dir: where ctest was started
  std::string log;    ///< --log: a file or a folder; empty: what GPUTEST_LOG names, or Testing/gputest in `folder`
  std::string output; ///< --output; empty: gputest_report.html
  std::string trace;  ///< --trace; empty: none
};

/// The logs of a ctest that was started in `folder`, the newest first, unless `log` says where they are. Of a folder
/// that GPUTEST_LOG names, which several build trees may share, those of `folder` if there are any. What is left out it
/// says on stderr. Throws Error if there is none.
[[nodiscard]] std::vector<report::RunLogFile> logs_of(const std::string& folder, const std::string& log);

/// `gputest report`: writes a page about the newest run, and its trace if it is asked for. Throws Error if there is no
/// log, or if a file cannot be written.
[[nodiscard]] ExitCode report_command(const ReportArguments& arguments);

} // namespace gputest::cli
