// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace gputest::insights {

/// What ctest keeps in Testing/Temporary/CTestCostData.txt. It replaces the file at the end of each run, and leaves it
/// alone if it only lists tests.
struct CtestCostData {
  /// The mean over the runs of each test that has run, waits included. It is too small after repeated runs at -j1, and
  /// it is no time if the test has the property COST.
  std::map<std::string, double> seconds;
  std::set<std::string> failed; ///< in the last run: they failed, timed out, or could not be started
};

/// Leaves out lines that are not of the file's form.
[[nodiscard]] CtestCostData parse_cost_data(const std::string& text);

/// The tests that failed in this run, as ctest has written it. nullopt if ctest's files are of another run, or not
/// there.
[[nodiscard]] std::optional<std::set<std::string>> failed_by_ctest(const RunLog& run);

} // namespace gputest::insights
