// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report_command.hpp"

#include "report/report_page.hpp"
#include "report/run_summary.hpp"
#include "settings/log_folder.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace gputest::cli {

namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << text;
  file.close();
  if (!file) {
    throw Error{path + " cannot be written. Write --output and --trace with files in a folder that is there"};
  }
}

} // namespace

std::vector<report::RunLogFile> logs_of(const std::string& folder, const std::string& log) {
  const auto chosen = log.empty() ? settings::chosen_log_folder() : std::nullopt;
  std::vector<std::string> problems;
  auto logs = report::read_run_logs(chosen ? *chosen : log.empty() ? folder + "/Testing/gputest" : log, problems);
  for (const auto& problem : problems) {
    fmt::print(stderr, "gputest: left out: {}\n", problem);
  }
  if (chosen) {
    std::error_code none;
    const auto own = std::filesystem::weakly_canonical(folder, none);
    const auto is_other = [&](const report::RunLogFile& file) {
      return std::filesystem::weakly_canonical(file.log.folder, none) != own;
    };
    if (!std::all_of(logs.begin(), logs.end(), is_other)) {
      logs.erase(std::remove_if(logs.begin(), logs.end(), is_other), logs.end());
    }
  }
  return logs;
}

ExitCode report_command(const ReportArguments& arguments) {
  const auto logs = logs_of(arguments.folder, arguments.log);
  const auto& run = logs.front().log;
  std::vector<const report::RunLog*> history;
  for (const auto& file : logs) {
    history.push_back(&file.log);
  }
  const std::string output = arguments.output.empty() ? "gputest_report.html" : arguments.output;
  const bool trace_alone = arguments.output.empty() && !arguments.trace.empty();
  if (!trace_alone) {
    write(output, report::report_page(run, history));
  }
  if (!arguments.trace.empty()) {
    write(arguments.trace, report::trace_events(run));
  }
  const auto sums = report::summarise(run);
  fmt::print("{} tests: {} passed, {} failed, {} skipped{} in {:.1f} s; {:.1f} s of waiting\n{}{}{}\n", sums.tests,
             sums.passed, sums.failed, sums.skipped,
             sums.unknown == 0 ? "" : fmt::format(", {} ended without a word", sums.unknown), sums.wall, sums.waited,
             trace_alone ? "" : output, trace_alone || arguments.trace.empty() ? "" : "\n", arguments.trace);
  return ExitCode::done;
}

} // namespace gputest::cli
