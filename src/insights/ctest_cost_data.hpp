// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <optional>
#include <set>
#include <string>

namespace gputest::insights {

/// The path of ctest's own log of this run, LastTest.log; empty: it is not there.
[[nodiscard]] std::string ctest_log_of(const RunLog& run);

/// The tests that failed in a run with the log `ctest_log_of(run)`, as ctest has written it into CTestCostData.txt:
/// they failed, timed out, or could not be started. Of a merged run log, those that it names. nullopt if ctest's files
/// are of another run, or not there.
[[nodiscard]] std::optional<std::set<std::string>> failed_by_ctest(const RunLog& run, const std::string& ctest_log);

} // namespace gputest::insights
