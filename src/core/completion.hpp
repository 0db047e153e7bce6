// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "settings/settings.hpp"

#include <gputest/bytes.hpp>

#include <optional>
#include <string>

namespace gputest::core {

/// Writes the line that CTest looks for in the output of an entry, after what was printed before, to standard error
/// and, if that is another file, to standard output.
///
/// CTest can search an output for a text, but not fail a test for want of one, unless it then ignores the exit code
/// (PASS_REGULAR_EXPRESSION). It can fail a test whose whole output has another form. So the line ends with a DEL and a
/// tab, which no terminal shows and no text contains (cmake/detail/sentinel.cmake).
void tell_completion(const std::string& entry);

/// Writes the most that a test has allocated of a device to standard output, in the form that CTest takes for a
/// measurement of the entry: `gputest_peak_mib`.
void tell_peak(Bytes peak);

/// Ends the process so that CTest reports a failure although it inverts exit codes (WILL_FAIL) or does not look at them
/// (PASS_REGULAR_EXPRESSION), after a message: that is not what `who` is expected to show. `watcher` says which. A
/// signal is a failure in each case.
[[noreturn]] void fail_without_exit_code(const settings::EntryWatcher& watcher, const std::string& who,
                                         const std::string& why);

/// What a process below the launcher reports of a run of its tests: that it has begun, how it ended, or why gputest has
/// refused a test.
enum class ReportWord { begun, refused, complete, skipped, nothing_ran };

/// A report as a line of text, without its end: `<word> <pid> <text>`.
[[nodiscard]] std::string report_line(ReportWord word, int pid, const std::string& text);

struct Report {
  ReportWord word;
  std::string pid;
  std::string text;
};
/// nullopt for any other line. Pure.
[[nodiscard]] std::optional<Report> read_report_line(const std::string& line);

} // namespace gputest::core
