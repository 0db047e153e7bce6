// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gputest::cli {

/// One run of the suite.
struct SuiteRun {
  std::string name;
  std::map<std::string, std::string> results; ///< by tests: `passed`, `failed`, `skipped`
  double seconds = 0;
};

/// What the runs of `gputest isolate` show together. The first had a process for each case.
struct Comparison {
  std::vector<SuiteRun> runs;
  std::vector<std::string> differ;              ///< tests
  std::map<std::string, std::string> spoiled;   ///< by tests that fail after others: the command that shows it
  std::map<std::string, std::string> dependent; ///< by tests that pass only after others: likewise
};

/// `not run` if the run has none.
[[nodiscard]] std::string result_in(const SuiteRun& run, const std::string& test);

/// The tests whose results are not the same in all runs, by name.
[[nodiscard]] std::vector<std::string> tests_that_differ(const std::vector<SuiteRun>& runs);

[[nodiscard]] std::string to_text(const Comparison& compared, std::size_t count_in_workers);
[[nodiscard]] nlohmann::ordered_json to_json(const Comparison& compared);

} // namespace gputest::cli
