// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace gputest::insights {

/// What ctest's own log has of one entry. Only for display: an output that has the end of its own
/// entry, too, can imitate the log's form.
struct CtestOutput {
  std::size_t line = 0;   ///< of the log, from 1, at which the entry begins
  std::string last_lines; ///< of the output: at most 20, and 4 KiB
  std::string message{};  ///< at most three lines of it: from the first that looks like a failure's, else the last ones
  double seconds = -1;    ///< that it took; -1: not known
  bool skipped = false;   ///< by its SKIP_REGULAR_EXPRESSION
};

/// ctest's log of a run, and what it has of some entries.
struct CtestLog {
  std::string path;
  std::map<std::string, CtestOutput> outputs;
};

/// Reads a `LastTest.log`. Of an entry that ran more than once, the last attempt.
[[nodiscard]] std::map<std::string, CtestOutput> parse_ctest_log(const std::string& text);

/// The path of ctest's own log of this run, LastTest.log; empty: it is not there.
[[nodiscard]] std::string ctest_log_of(const RunLog& run);

/// The tests that failed in a run with the log `ctest_log_of(run)`, as ctest has written it into CTestCostData.txt:
/// they failed, timed out, or could not be started. Of a merged run log, those that it names. nullopt if ctest's files
/// are of another run, or not there.
[[nodiscard]] std::optional<std::set<std::string>> failed_by_ctest(const RunLog& run, const std::string& ctest_log);

} // namespace gputest::insights
