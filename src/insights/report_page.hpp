// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <string>
#include <vector>

namespace gputest::insights {

/// A page of HTML that shows a run, and beside it the runs in `history`, this one among them. It needs nothing else,
/// and no network. Names from the log are data in it, whatever characters they have.
[[nodiscard]] std::string report_page(const RunLog& run, const std::vector<const RunLog*>& history);

} // namespace gputest::insights
