// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "report/run_log.hpp"

#include <string>
#include <vector>

namespace gputest::report {

/// `sort: Sort.Keys`, or one of the two if they are the same or if there is only one.
[[nodiscard]] std::string full_name(const std::string& entry, const std::string& test);

/// What became of one test: of a framework's, of an entry whose program has none, or of an entry that failed although
/// all of its tests passed.
struct TestResult {
  std::string name;
  std::string result;  ///< `passed`, `failed`, `skipped`, or `unknown`: the process was killed, or said nothing
  double seconds = -1; ///< without what it waited; -1: not known
  double ended = 0;
  std::string entry;
  std::string test; ///< empty: the entry as a whole
};

/// One for each test of an entry, however many attempts the run made: its last attempt counts, in which a failure
/// counts before a pass.
[[nodiscard]] std::vector<TestResult> results_of(const RunLog& log);

} // namespace gputest::report
