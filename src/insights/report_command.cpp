// SPDX-License-Identifier: BSD-3-Clause
#include "insights/commands.hpp"

#include "core/os/file.hpp"
#include "insights/ctest_log.hpp"
#include "insights/entry_runs.hpp"
#include "insights/github_report.hpp"
#include "insights/report_page.hpp"
#include "insights/run_log_files.hpp"
#include "insights/run_summary.hpp"
#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace gputest::insights {

namespace {

constexpr const char* report_help =
    R"text(Reads the newest run log, and writes one HTML page, which loads nothing from a network. It shows totals, the failed tests with the
end of their output, what made the run longer, a time line of each device and of each worker, all tests with a filter,
large and skipped tests with reasons, the longest waits and their causes, and earlier runs.

--format github prints an annotation for each failed test, with its file and line, and appends a summary in Markdown to FILE of
--output, else to the file that GITHUB_STEP_SUMMARY names, else prints it. --format trace writes a trace that Perfetto and Chrome
show: a lane for each lease on a device, and one for each worker.

With this line in CMakeLists.txt, CMake 4.3 and newer run the command after each ctest, and add the argument INDEX.
  cmake_instrumentation(API_VERSION 1 DATA_VERSION 1 HOOKS postCTest CALLBACK gputest report --test-dir "${CMAKE_BINARY_DIR}")

Examples:
  gputest report --test-dir build
  gputest report --log build/Testing/gputest --output report.html
  gputest report --test-dir build --format github
)text";

struct ReportOptions {
  std::string folder = "."; ///< where ctest was started
  std::string log;          ///< as for logs_of()
  std::string format = "html";
  std::string output; ///< empty: the default of the format
  std::string index;  ///< of CMake's instrumentation, which names it to all that it calls; not used
};

/// Those of the page, with the place at which an assertion failed, else that of the test.
std::vector<FailedTest> failed_tests(const RunLog& run, const nlohmann::ordered_json& page) {
  std::vector<FailedTest> failed;
  for (const auto& test : page["failed"]) {
    const auto message = test.value("m", "");
    FailedTest one{test["n"], fmt::format("{}", fmt::join(test["w"].get<std::vector<std::string>>(), "\n")),
                   test.value("o", ""), place_of_failure(message + "\n" + test.value("o", ""))};
    one.why = one.why.empty() ? message : one.why;
    for (const auto& part : run.tests) {
      if (one.place.file.empty() && part.entry == one.name && part.result == "failed") {
        one.place = {part.file, part.line};
      }
    }
    failed.push_back(std::move(one));
  }
  return failed;
}

std::vector<std::string> notes_on(const RunLog& run) {
  auto notes = what_held_it_back(run);
  for (const auto& group : skips_of(run)) {
    notes.push_back(fmt::format("{} skipped: {}", group.tests.size(), group.reason));
  }
  if (auto remark = remark_on_results(run); !remark.empty()) {
    notes.push_back(std::move(remark));
  }
  return notes;
}

/// What was killed has not written when, but ctest has how long its entry took.
void end_what_was_killed(RunLog& run) {
  const auto end = [&](auto& killed) {
    const auto seconds = run.seconds.find(killed.entry);
    if (killed.open_ended && !killed.running && seconds != run.seconds.end()) {
      killed.ended = std::max(killed.ended, std::min(run.ended, killed.asked + seconds->second));
    }
  };
  std::for_each(run.processes.begin(), run.processes.end(), end);
  for (auto& lease : run.leases) {
    if (!lease.open_ended) {
      continue; // its process has written later lines
    }
    end(lease);
    for (auto& process : run.processes) {
      if (process.open_ended && process.pid == lease.pid && process.asked <= lease.asked) { // a worker
        process.ended = std::max(process.ended, lease.ended);
      }
    }
  }
}

tool::ExitCode report(const ReportOptions& options) {
  const auto without_log = ran_without_a_log(options.folder, options.log);
  if (without_log == tool::RunByCtest::nothing) {
    throw Error{tool::nothing_ran(options.folder)};
  }
  if (without_log == tool::RunByCtest::others) {
    fmt::print("there is nothing to report of the tests that ctest has run in {}: {}\n", options.folder,
               tool::ran_without_gputest);
    return tool::ExitCode::done;
  }
  auto logs = logs_of(options.folder, options.log);
  auto& run = logs.front();
  const auto ctest_log = ctest_log_of(run);
  run.failed = failed_by_ctest(run, ctest_log);
  CtestLog outputs;
  try {
    if (!ctest_log.empty()) {
      outputs = {ctest_log, parse_ctest_log(read_text(ctest_log))};
    }
  } catch (const Error&) { // it has gone since
  }
  for (const auto& [entry, output] : outputs.outputs) {
    if (output.seconds >= 0) {
      run.seconds[entry] = output.seconds;
    }
    if (output.skipped) {
      run.skipped.insert(entry);
    }
  }
  if (const auto stamp = os::stamp_of(ctest_log); stamp && !run.running) { // ctest closes its log at its end
    run.ended = std::max(run.ended, static_cast<double>(stamp->modified) / 1e9);
    run.end_is_known = true;
  }
  end_what_was_killed(run);
  const auto sums = summarise(run);
  const auto heading = fmt::format("{} tests: {} passed, {} failed, {} skipped{}{} in {}{:.1f} s; {:.1f} s of waiting",
                                   sums.tests, sums.passed, sums.failed, sums.skipped,
                                   sums.running == 0 ? "" : fmt::format(", {} running", sums.running),
                                   sums.unknown == 0 ? "" : fmt::format(", {} killed", sums.unknown),
                                   sums.open_ended ? "at least " : "", sums.wall, sums.waited);
  if (options.format == "github") {
    write_for_github(heading, failed_tests(run, page_data(run, {}, outputs)), notes_on(run), options.output);
    return tool::ExitCode::done;
  }
  const bool is_trace = options.format == "trace";
  const auto output = !options.output.empty() ? options.output
                      : is_trace              ? "gputest_trace.json"
                                              : "gputest_report.html";
  try {
    write_text(output, is_trace ? trace_of(run) : report_page(run, logs, outputs));
  } catch (const Error& error) {
    throw Error{error.what() + std::string{". Write --output with a file in a folder that is there"}};
  }
  fmt::print("{}\n{}\n", heading, output);
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
  tool::add_place_of_logs(command, options->folder, options->log);
  command.add_option("--format", options->format, "what to write (default: html)")
      ->type_name("html|github|trace")
      ->check(CLI::IsMember({"html", "github", "trace"}));
  command
      .add_option("--output", options->output, "file to write (default: gputest_report.html, or gputest_trace.json)")
      ->type_name("FILE");
  command.add_option("INDEX", options->index, "added by cmake_instrumentation(); not read")->type_name("FILE");
}

} // namespace gputest::insights
