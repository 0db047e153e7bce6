// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"
#include "tool/ctest_facts.hpp"

#include <string>
#include <vector>

namespace gputest::insights {

/// Reads the log `where`, or all logs of the folder `where`, the newest run first. A file of the folder that cannot be
/// read, or is no run log, is left out, and so are single lines; what is left out, and why, is said on stderr. Throws
/// Error if the file cannot be read or is none, and if there is no log.
[[nodiscard]] std::vector<RunLog> read_run_logs(const std::string& where);

/// The logs of a ctest that was started in `folder`, the newest first, unless `log` says where they are. Of a folder
/// that GPUTEST_LOG names, which several build trees may share, those of `folder` if there are any. Throws Error if
/// there is none.
[[nodiscard]] std::vector<RunLog> logs_of(const std::string& folder, const std::string& log);

/// Where there is no log for logs_of(): what a ctest has run that was started in `folder`. Else `unknown`.
[[nodiscard]] tool::RunByCtest ran_without_a_log(const std::string& folder, const std::string& log);

} // namespace gputest::insights
