// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <string>
#include <vector>

namespace gputest::insights {

/// A page of HTML that shows a run, and beside it the runs in `history`, this one among them. It needs nothing else,
/// and no network. Names from the log are data in it, whatever characters they have.
[[nodiscard]] std::string report_page(const RunLog& run, const std::vector<const RunLog*>& history);

/// The run as Chrome's trace events, for Perfetto: a thread for each place in which tests ran one after another, a
/// counter for the memory of each device.
[[nodiscard]] std::string trace_events(const RunLog& run);

/// Text as JSON that can stand in a script element of HTML.
[[nodiscard]] std::string for_script_element(const std::string& json);

} // namespace gputest::insights
