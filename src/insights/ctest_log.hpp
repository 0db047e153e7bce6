// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace gputest::insights {

/// What ctest's own log has of one entry. Only for display: an output can imitate the log's form.
struct CtestOutput {
  std::size_t line = 0;   ///< of the log, from 1, at which the entry begins
  std::string last_lines; ///< of the output: at most 20, and 4 KiB
  std::string message{};  ///< at most three lines of it: from the first that looks like a failure's, else the last ones
  double seconds = -1;    ///< that it took; -1: not known
};

/// ctest's log of a run, and what it has of some entries.
struct CtestLog {
  std::string path;
  std::map<std::string, CtestOutput> outputs;
};

/// Reads a `LastTest.log`. Of an entry that ran more than once, the last attempt.
[[nodiscard]] std::map<std::string, CtestOutput> parse_ctest_log(const std::string& text,
                                                                 const std::set<std::string>& entries);

} // namespace gputest::insights
