// SPDX-License-Identifier: BSD-3-Clause
#include "insights/report_command.hpp"

#include "insights/ctest_cost_data.hpp"
#include "insights/entry_results.hpp"
#include "insights/report_page.hpp"
#include "insights/run_logs.hpp"
#include "insights/run_summary.hpp"
#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <vector>

namespace gputest::insights {

namespace {

void write(const std::string& path, const std::string& text) try {
  write_text(path, text);
} catch (const Error& error) {
  throw Error{error.what() + std::string{". Write --output and --trace with files in a folder that is there"}};
}

} // namespace

tool::ExitCode report_command(const tool::ReportArguments& arguments) {
  auto logs = logs_of(arguments.folder, arguments.log);
  auto& run = logs.front().log;
  run.failed = failed_by_ctest(run);
  std::vector<const RunLog*> history;
  for (const auto& file : logs) {
    history.push_back(&file.log);
  }
  const std::string output = arguments.output.empty() ? "gputest_report.html" : arguments.output;
  const bool trace_alone = arguments.output.empty() && !arguments.trace.empty();
  if (!trace_alone) {
    write(output, report_page(run, history));
  }
  if (!arguments.trace.empty()) {
    write(arguments.trace, trace_events(run));
  }
  const auto sums = summarise(run);
  fmt::print("{} tests: {} passed, {} failed, {} skipped{} in {:.1f} s; {:.1f} s of waiting\n{}{}{}\n", sums.tests,
             sums.passed, sums.failed, sums.skipped, sums.unknown == 0 ? "" : fmt::format(", {} killed", sums.unknown),
             sums.wall, sums.waited, trace_alone ? "" : output, trace_alone || arguments.trace.empty() ? "" : "\n",
             arguments.trace);
  if (const auto remark = remark_on_results(run); !remark.empty()) {
    fmt::print(stderr, "gputest: {}\n", remark);
  }
  return tool::ExitCode::done;
}

} // namespace gputest::insights
