// SPDX-License-Identifier: BSD-3-Clause
#include "insights/commands.hpp"

#include "core/os/file.hpp"
#include "insights/ctest_cost_data.hpp"
#include "insights/ctest_log.hpp"
#include "insights/entry_results.hpp"
#include "insights/report_page.hpp"
#include "insights/run_log_files.hpp"
#include "insights/run_summary.hpp"
#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gputest::insights {

namespace {

constexpr const char* report_help =
    R"text(Reads the newest run log, and writes one HTML page, which loads nothing from a network. It shows totals, the failed tests with the
end of their output, what made the run longer, a time line of each device and of each worker, all tests with a filter,
large and skipped tests with reasons, the longest waits and their causes, and earlier runs.

With this line in CMakeLists.txt, CMake 4.3 and newer run the command after each ctest, and add the argument INDEX.
  cmake_instrumentation(API_VERSION 1 DATA_VERSION 1 HOOKS postCTest CALLBACK gputest report --test-dir "${CMAKE_BINARY_DIR}")

Examples:
  gputest report --test-dir build
  gputest report --log build/Testing/gputest --output report.html
)text";

struct ReportOptions {
  std::string folder = "."; ///< where ctest was started
  std::string log;          ///< as for logs_of()
  std::string output = "gputest_report.html";
  std::string index; ///< of CMake's instrumentation, which names it to all that it calls; not used
};

/// What ctest's log has of the failed entries; nothing if it is not there any more.
CtestLog outputs_of_failed(const RunLog& run, const std::string& log) try {
  std::set<std::string> failed;
  for (const auto& result : results_of(run)) {
    if (has_failed(result)) {
      failed.insert(result.entry);
    }
  }
  return {log, log.empty() || failed.empty() ? std::map<std::string, CtestOutput>{}
                                             : parse_ctest_log(read_text(log), failed)};
} catch (const Error&) { // it has gone since
  return {};
}

tool::ExitCode report(const ReportOptions& options) {
  auto logs = logs_of(options.folder, options.log);
  auto& run = logs.front().log;
  const auto ctest_log = ctest_log_of(run);
  run.failed = failed_by_ctest(run, ctest_log);
  const auto outputs = outputs_of_failed(run, ctest_log);
  for (const auto& [entry, output] : outputs.outputs) {
    if (output.seconds >= 0) {
      run.seconds[entry] = output.seconds;
    }
  }
  if (const auto stamp = os::stamp_of(ctest_log); stamp && !run.running) { // ctest closes its log at its end
    run.ended = std::max(run.ended, static_cast<double>(stamp->modified) / 1e9);
  }
  std::vector<const RunLog*> history;
  for (const auto& file : logs) {
    history.push_back(&file.log);
  }
  try {
    write_text(options.output, report_page(run, history, outputs));
  } catch (const Error& error) {
    throw Error{error.what() + std::string{". Write --output with a file in a folder that is there"}};
  }
  const auto sums = summarise(run);
  fmt::print("{} tests: {} passed, {} failed, {} skipped{}{} in {}{:.1f} s; {:.1f} s of waiting\n{}\n", sums.tests,
             sums.passed, sums.failed, sums.skipped, sums.running == 0 ? "" : fmt::format(", {} running", sums.running),
             sums.unknown == 0 ? "" : fmt::format(", {} killed", sums.unknown), sums.open_ended ? "at least " : "",
             sums.wall, sums.waited, options.output);
  if (const auto remark = remark_on_results(run); !remark.empty()) {
    fmt::print(stderr, "gputest: {}\n", remark);
  }
  return tool::ExitCode::done;
}

} // namespace

void add_report(tool::CommandLine& line) {
  const auto options = std::make_shared<ReportOptions>();
  auto& command = line.add(tool::report_command, report_help + tool::exit_codes(),
                           [options](const auto& /*words*/) { return report(*options); });
  add_place_of_logs(command, options->folder, options->log);
  command.add_option("--output", options->output, "file to write (default: gputest_report.html)")->type_name("FILE");
  command.add_option("INDEX", options->index, "added by cmake_instrumentation(); not read")->type_name("FILE");
}

} // namespace gputest::insights
