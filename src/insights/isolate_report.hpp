// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gputest::insights {

/// One run of the suite.
struct SuiteRun {
  std::string name;
  std::map<std::string, std::string> results; ///< by tests: `passed`, `failed`, `skipped`
  double seconds = 0;
};

/// What the runs of `gputest isolate` show together. The first had a process for each case.
struct Comparison {
  std::vector<SuiteRun> runs;
  std::set<std::string> in_workers;             ///< tests that run in workers
  std::vector<std::string> differ;              ///< tests
  std::map<std::string, std::string> spoiled;   ///< by tests that fail after others: the command that shows it
  std::map<std::string, std::string> dependent; ///< by tests that pass only after others: likewise
  std::set<std::string> unstable; ///< that failed in a process of their own, and passed there when repeated one by one
};

/// `not run` if the run has none.
[[nodiscard]] std::string result_in(const SuiteRun& run, const std::string& test);

/// The tests whose results are not the same in all runs, by name.
[[nodiscard]] std::vector<std::string> tests_that_differ(const std::vector<SuiteRun>& runs);

/// How many tests that run in workers have passed or failed in any run. A comparison of none says nothing.
[[nodiscard]] std::size_t count_compared(const Comparison& compared);

[[nodiscard]] std::string to_text(const Comparison& compared);
[[nodiscard]] nlohmann::ordered_json to_json(const Comparison& compared);

} // namespace gputest::insights
