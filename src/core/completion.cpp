// SPDX-License-Identifier: BSD-3-Clause
#include "core/completion.hpp"

#include "platform/process_end.hpp"
#include "session/messages.hpp"

#include <array>
#include <cstdio>
#include <sstream>
#include <utility>

namespace gputest::core {

namespace {

constexpr std::array<std::pair<ReportWord, const char*>, 5> words{{{ReportWord::begun, "begun"},
                                                                   {ReportWord::refused, "refused"},
                                                                   {ReportWord::complete, "complete"},
                                                                   {ReportWord::skipped, "skipped"},
                                                                   {ReportWord::nothing_ran, "nothing_ran"}}};

} // namespace

void tell_completion(const std::string& entry) {
  platform::write_to_both_streams("gputest: entry complete: " + entry + "\x7f\t\n");
}

void tell_peak(Bytes peak) {
  std::array<char, 160> text{};
  constexpr double mebibyte = 1 << 20U;
  std::snprintf(text.data(), text.size(),
                "<CTestMeasurement type=\"numeric/double\" name=\"gputest_peak_mib\">%.3f</CTestMeasurement>\n",
                static_cast<double>(peak.count()) / mebibyte);
  std::fflush(stdout);
  std::fputs(text.data(), stdout);
  std::fflush(stdout);
}

void fail_without_exit_code(const settings::EntryWatcher& watcher, const std::string& who, const std::string& why) {
  session::tell(who +
                (watcher.will_fail ? " is expected to fail (WILL_FAIL), but not for this reason"
                                   : " passes by its output (PASS_REGULAR_EXPRESSION), and fails in spite of it") +
                (why.empty() ? "" : ": " + why));
  platform::end_killed();
}

std::string report_line(ReportWord word, int pid, const std::string& text) {
  for (const auto& [known, name] : words) {
    if (known == word) {
      return std::string{name} + " " + std::to_string(pid) + " " + text;
    }
  }
  return {};
}

std::optional<Report> read_report_line(const std::string& line) {
  std::istringstream fields{line};
  std::string word;
  Report report{};
  fields >> word >> report.pid >> std::ws;
  std::getline(fields, report.text);
  for (const auto& [known, name] : words) {
    if (word == name) {
      report.word = known;
      return report;
    }
  }
  return std::nullopt;
}

} // namespace gputest::core
