// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/ctest_cost_data.hpp"
#include "insights/entry_runs.hpp"
#include "insights/suite_plan.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gputest::insights {

/// The entries that ctest would run, and what is known of their times.
struct CtestSuite {
  std::vector<PlannedTest> tests;
  std::size_t measured = 0;      ///< how many of them have run before
  PlannedSeconds assumed_time{}; ///< of the others: the mean of those that have, or a second
};

/// Reads what `ctest --show-only=json-v1` prints. Times are those of the run logs (`measured`); of an entry that is in
/// none, ctest's (`costs`). What an entry asks of the GPUs is what the variables say that gpu_add_test() and
/// gpu_discover_tests() give it, or what its tests were granted, if that is more than CMake knows.
/// Entries without such variables use no GPU. Throws Error if the text is not such a document, and InvalidSetting,
/// naming the test, for a variable that gputest would refuse.
[[nodiscard]] CtestSuite parse_ctest_suite(const std::string& json, const MeasuredEntries& measured = {},
                                           const CtestCostData& costs = {});

/// A line of a source.
struct SourceLine {
  std::string file;
  std::size_t line = 0; ///< from 1; 0: not known
};

/// Where gpu_add_test() was called for each entry that it has made, as `ctest --show-only=json-v1` says. Throws Error
/// if the text is not such a document.
[[nodiscard]] std::map<std::string, SourceLine> places_of_entries(const std::string& json);

} // namespace gputest::insights
