// SPDX-License-Identifier: BSD-3-Clause
#include "cli/verdict.hpp"

#include "core/completion.hpp"

#include <gputest/outcome.hpp>

#include <cstdlib>
#include <map>
#include <sstream>

namespace gputest::cli {

namespace {

using Word = core::ReportWord;

struct Reported {
  std::map<std::string, int> unfinished; ///< by pid: runs of tests that have begun and not ended
  int skipped = 0;
  std::string refused;
  bool nothing_ran = false;
};

Reported read(const std::string& report) {
  Reported reported;
  std::istringstream lines{report};
  std::string line;
  while (std::getline(lines, line)) {
    const auto said = core::read_report_line(line);
    if (!said) {
      continue;
    }
    if (said->word == Word::begun) {
      ++reported.unfinished[said->pid];
    } else if (said->word == Word::refused) {
      reported.refused = said->text;
    } else {
      --reported.unfinished[said->pid];
      reported.skipped += said->word == Word::skipped ? 1 : 0;
      reported.nothing_ran = reported.nothing_ran || said->word == Word::nothing_ran;
    }
  }
  return reported;
}

} // namespace

Verdict judge(const std::string& report, int exit_code) {
  const auto reported = read(report);
  const bool meant = reported.refused.empty() && !reported.nothing_ran;
  if (exit_code == skipped_exit_code) {
    if (reported.skipped > 0 && !reported.nothing_ran && reported.refused.empty()) {
      return {exit_code, "", true};
    }
    return {EXIT_FAILURE,
            "the command ended with 77, which CTest would report as skipped, and gputest did not skip it. Some "
            "programs end "
            "with the number of their failures. To skip a test of another framework, set SKIP_REGULAR_EXPRESSION",
            meant};
  }
  if (exit_code != 0) {
    return {exit_code, "", meant};
  }
  for (const auto& [pid, runs] : reported.unfinished) {
    if (runs > 0) {
      return {EXIT_FAILURE,
              "process " + pid +
                  " began its tests and ended in the middle of them, although the command ended with 0. "
                  "Its last test may have called _exit(0)",
              false};
    }
  }
  if (reported.nothing_ran) {
    return {EXIT_FAILURE, "no test ran, although the command ended with 0", false};
  }
  if (!reported.refused.empty()) {
    return {EXIT_FAILURE, "gputest has failed a test, although the command ended with 0: " + reported.refused, false};
  }
  // The command may have dropped the exit code; CTest's summary shows a skip all the same.
  return {reported.skipped > 0 ? skipped_exit_code : 0, "", true};
}

} // namespace gputest::cli
