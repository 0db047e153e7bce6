// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::cli {

/// What the launcher makes of the end of its command, in an entry of gpu_add_test().
struct Verdict {
  int exit_code = 0;
  std::string problem;           ///< why the exit code is not the command's; empty if it is
  bool meant_by_the_test = true; ///< whether this failure may be the one that WILL_FAIL expects
};

/// Judges by the command's exit code and by what the processes of gputest below it have reported (TestRun). Pure.
///
/// The exit code is the command's, with two exceptions. 77 is a skip only if gputest said so in that process, because
/// other programs use the number for something else. 0 is no success if a process has begun its tests and not ended
/// them, if none ran, or if gputest has refused one: a script may have dropped the exit code. A script may also expect
/// that tests fail, so 0 is a success if they only did that.
[[nodiscard]] Verdict judge(const std::string& report, int exit_code);

} // namespace gputest::cli
