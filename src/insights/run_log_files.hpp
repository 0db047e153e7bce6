// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <string>
#include <vector>

namespace gputest::insights {

/// A log and where it was read.
struct RunLogFile {
  std::string path;
  RunLog log;
};

/// Reads the log `where`, or all logs of the folder `where`, the newest run first. A file of the folder that cannot be
/// read, or is no run log, is left out, and so are single lines; `problems` gets what, and why. Throws Error if the
/// file cannot be read or is none, and if there is no log.
[[nodiscard]] std::vector<RunLogFile> read_run_logs(const std::string& where, std::vector<std::string>& problems);

} // namespace gputest::insights
