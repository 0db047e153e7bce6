// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <string>
#include <vector>

namespace gputest::insights {

/// `sort: Sort.Keys`, or one of the two if they are the same or if there is only one.
[[nodiscard]] std::string full_name(const std::string& entry, const std::string& test);

/// What became of one entry.
struct EntryResult {
  std::string entry;
  std::string result;  ///< `passed`, `failed`, `skipped`, `running`; `unknown`: killed, without ctest's verdict
  double seconds = -1; ///< without what it waited; -1: not known
  std::vector<std::string> why; ///< what the log says of a failure
};

/// One for each entry: ctest's verdict (RunLog::failed), with the skips of gputest's. If ctest's verdict is not known,
/// what the last attempt's process said at its end, or its tests did.
[[nodiscard]] std::vector<EntryResult> results_of(const RunLog& log);

/// Why the results are not ctest's, for people; empty if they are, or if no ctest ran.
[[nodiscard]] std::string remark_on_results(const RunLog& log);

} // namespace gputest::insights
