// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/merge.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gputest::insights {

/// What a ctest has said of its tests so far, by their positions in the suite.
struct CtestProgress {
  std::set<std::size_t> begun; ///< and not ended
  std::map<std::size_t, RunResult> ended;
  std::map<std::size_t, RunResult> unsure; ///< the same, but ctest may have been about to be killed
};

/// Reads what ctest writes to standard output while it runs, without the options that mix in what tests write
/// (--output-on-failure, --verbose). A ctest that was killed leaves a part of it: a line that is not whole counts for
/// nothing, and so does one whose name is not that of the test with its number. `positions` are those of ctest's
/// numbers in `tests`. What is not in the first `sound` bytes may be the consequence of a kill: whoever ends all
/// processes ends some tests before their ctest. Pure.
[[nodiscard]] CtestProgress parse_ctest_progress(const std::string& text, const std::vector<SuiteTest>& tests,
                                                 const std::map<std::size_t, std::size_t>& positions,
                                                 std::size_t sound);

} // namespace gputest::insights
