// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "policy/suite_plan.hpp"
#include "report/test_log.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gputest::report {

/// Times of tests by their names.
using MeasuredTimes = std::map<std::string, policy::PlannedSeconds>;

/// Reads the text of a CTestCostData.txt: lines of a name, a number of runs and their mean in seconds, up to `---`.
/// Lines that are none of these, and tests without a run, are left out. ctest writes wrong means in repeated runs at
/// -j1 (seen with 3.25): a log is better.
[[nodiscard]] MeasuredTimes parse_measured_times(const std::string& text);

/// The entries that ctest would run, and what is known of their times.
struct CtestSuite {
  std::vector<policy::PlannedTest> tests;
  std::size_t measured = 0;              ///< how many of them have run before
  policy::PlannedSeconds assumed_time{}; ///< of the others: the mean of those that have, or a second
};

/// Reads what `ctest --show-only=json-v1` prints. Times are those of the log, or else of `times`. What an entry asks of the
/// GPUs is what the variables say that gpu_add_test() and gpu_discover_tests() give it. An entry of one test asks for what
/// it was admitted with, because a test may say more than CMake knows. Entries without such variables use no GPU.
/// Throws Error if the text is not such a document, and InvalidSetting, naming the test, for a variable that gputest would
/// refuse.
[[nodiscard]] CtestSuite parse_ctest_suite(const std::string& json, const MeasuredTimes& times, const TestLog& log);

} // namespace gputest::report
