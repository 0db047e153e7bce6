// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/verdict.hpp"

#include <gputest/outcome.hpp>

#include <cstdlib>

namespace gputest::policy {

Verdict judge(const EntryReport& report, int exit_code, EntryCommand command) {
  const bool only_tests = command == EntryCommand::tests;
  const bool unfinished = report.begun > report.ended;
  const bool is_missing = only_tests && report.begun == 0;
  const bool refused = !report.refused.empty() || report.nothing_ran > 0;
  if (exit_code == skipped_exit_code) {
    if (report.skipped > 0 && !refused && !unfinished && !(only_tests && report.failed)) {
      return {exit_code, "", true};
    }
    return {EXIT_FAILURE,
            "the command ended with 77, which CTest would report as skipped, and gputest did not skip it. Some "
            "programs end with the number of their failures. To skip a test of another framework, set "
            "SKIP_REGULAR_EXPRESSION",
            !refused && !(only_tests && (unfinished || is_missing))};
  }
  if (exit_code != 0) {
    return {exit_code, "", !refused && !(only_tests && (unfinished || is_missing))};
  }
  if (unfinished) {
    return {EXIT_FAILURE,
            "the command ended with 0, and " + (report.running.empty() ? "its tests" : "the test " + report.running) +
                " had begun and not ended. Something has called _exit(0) or become another program. Let a test return, "
                "or skip it with its framework's own macro",
            false};
  }
  if (only_tests && report.failed) {
    return {EXIT_FAILURE,
            "tests have failed, but the command ended with 0. End its main() with the result of run_all_tests(), and "
            "let nothing end the process after it: a handler of atexit(), a destructor",
            !refused};
  }
  if (report.nothing_ran > 0) {
    return {EXIT_FAILURE, "no test ran, although the command ended with 0", false};
  }
  if (!report.refused.empty()) {
    return {EXIT_FAILURE, "gputest has failed a test, although the command ended with 0: " + report.refused, false};
  }
  if (is_missing) {
    return {
        EXIT_FAILURE,
        "the command ended with 0, and gputest did not run its tests. End its main() with `return "
        "gputest::run_all_tests();` or gputest::report_end(), or write LAUNCHER on in gpu_add_test() for a program "
        "that does not use gputest. Or they cannot open /proc/<pid>/fd of gputest-entry, as in another pid namespace",
        false};
  }
  // The command may have dropped the exit code; CTest's summary shows a skip all the same.
  return {report.skipped > 0 ? skipped_exit_code : 0, "", true};
}

std::string text_of_unseen_failure(const std::string& entry, bool will_fail) {
  return entry + (will_fail ? " is expected to fail (WILL_FAIL), but not for this reason"
                            : " is judged by its output (PASS_REGULAR_EXPRESSION, SKIP_REGULAR_EXPRESSION), and fails in spite of it");
}

} // namespace gputest::policy
