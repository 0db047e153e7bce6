// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report_command.hpp"

#include "report/report_page.hpp"
#include "report/run_log_files.hpp"
#include "report/run_summary.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <fstream>
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

std::string place_of_logs(const std::string& folder, const std::string& log) {
  return log.empty() ? folder + "/Testing/gputest" : log;
}

ExitCode report_command(const ReportArguments& arguments) {
  std::vector<std::string> problems;
  const auto logs = report::read_run_logs(place_of_logs(arguments.folder, arguments.log), problems);
  const auto& run = logs.front().log;
  std::vector<const report::RunLog*> history;
  for (const auto& file : logs) {
    history.push_back(&file.log);
  }
  for (const auto& problem : problems) {
    fmt::print(stderr, "gputest: left out: {}\n", problem);
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
