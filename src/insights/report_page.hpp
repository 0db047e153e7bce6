// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_log.hpp"
#include "insights/run_log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace gputest::insights {

/// What the page shows, by names that report_page.html reads. Times are seconds since the begin of the run.
[[nodiscard]] nlohmann::ordered_json page_data(const RunLog& run, const std::vector<RunLog>& history = {},
                                               const CtestLog& ctest = {});

/// A page of HTML that shows a run, and beside it the runs in `history`, of which it is the first. `ctest` has the
/// output of failed entries. The page needs nothing else, and no network. Names and output are data in it, whatever
/// characters they have.
[[nodiscard]] std::string report_page(const RunLog& run, const std::vector<RunLog>& history,
                                      const CtestLog& ctest = {});

/// A run in the format of Chrome's about:tracing, which Perfetto reads: for each device the leases, in as many lanes as
/// there were at once, and the bytes leased; and for each worker its cases. Pure.
[[nodiscard]] std::string trace_of(const RunLog& run);

} // namespace gputest::insights
