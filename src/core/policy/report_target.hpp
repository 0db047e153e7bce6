// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <string>

namespace gputest::policy {

/// Whom a process reports the end of its tests to: what GPUTEST_ENTRY says.
///
///     (not set, empty)    nobody: it is of no entry
///     ctest               CTest, by its exit code. It is to watch its command; or nobody watches (MEMORY none)
///     will_fail           the same, and CTest inverts the exit code (WILL_FAIL)
///     by_output           the same, and CTest judges by the output (PASS_, FAIL_, SKIP_REGULAR_EXPRESSION, ...)
///     <word>:<n>          the same as the word, and a command that ends with n has skipped itself, as the project says
///     <word> valgrind     the same as the word, from a watcher that ran under valgrind and became the command
///     <word> script       the same as the word; nobody watches the command, which may be a script
///     /proc/<pid>/fd/<n>  the process that watches it, by this page (core/os/test_status_page)
///
/// CMake writes the words (cmake/detail/entry_properties.cmake), a watcher the path. Any other word means `ctest`.
struct ReportTarget {
  bool ctest = false;
  bool will_fail = false;
  bool checks_output_only = false;
  std::string page;
  int skip_code = 0;             ///< of the command itself; 0: it has none
  bool expects_valgrind = false; ///< which is to run the tests, too
  bool may_be_script = false;    ///< a program, or something that starts several

  [[nodiscard]] bool any() const { return ctest || !page.empty(); }

  /// Whether CTest reports a failure for each exit code but 0 and 77.
  [[nodiscard]] bool believes_exit_code() const { return !will_fail && !checks_output_only; }
};

inline constexpr const char* valgrind_expected = " valgrind";
inline constexpr const char* script_possible = " script"; ///< also in src/portable/core.cpp

/// Pure, and never throws.
[[nodiscard]] inline ReportTarget parse_report_target(std::string entry) {
  if (entry.empty() || entry.front() == '/') {
    return {false, false, false, entry};
  }
  if (const auto end = entry.find(' '); end != std::string::npos) {
    auto target = parse_report_target(entry.substr(0, end));
    target.expects_valgrind = entry.compare(end, std::string::npos, valgrind_expected) == 0;
    target.may_be_script = entry.compare(end, std::string::npos, script_possible) == 0;
    return target;
  }
  int skip_code = 0;
  if (const auto end = entry.find(':'); end != std::string::npos) {
    std::from_chars(entry.data() + end + 1, entry.data() + entry.size(), skip_code);
    entry.resize(end);
  }
  return {true, entry == "will_fail", entry == "by_output", {}, skip_code};
}

} // namespace gputest::policy
