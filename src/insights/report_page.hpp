// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_log.hpp"
#include "insights/run_log.hpp"

#include <string>
#include <vector>

namespace gputest::insights {

/// A page of HTML that shows a run, and beside it the runs in `history`, this one among them. `ctest` has the output of
/// failed entries. The page needs nothing else, and no network. Names and output are data in it, whatever characters
/// they have.
[[nodiscard]] std::string report_page(const RunLog& run, const std::vector<const RunLog*>& history,
                                      const CtestLog& ctest = {});

} // namespace gputest::insights
