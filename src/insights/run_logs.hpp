// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log_files.hpp"

#include <string>
#include <vector>

namespace gputest::insights {

/// The logs of a ctest that was started in `folder`, the newest first, unless `log` says where they are. Of a folder
/// that GPUTEST_LOG names, which several build trees may share, those of `folder` if there are any. What is left out it
/// says on stderr. Throws Error if there is none.
[[nodiscard]] std::vector<RunLogFile> logs_of(const std::string& folder, const std::string& log);

} // namespace gputest::insights
