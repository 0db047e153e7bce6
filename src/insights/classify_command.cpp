// SPDX-License-Identifier: BSD-3-Clause
#include "insights/commands.hpp"

#include "core/os/file.hpp"
#include "core/os/host.hpp"
#include "insights/declarations.hpp"
#include "insights/entry_results.hpp"
#include "insights/run_log_files.hpp"
#include "tool/json_text.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace gputest::insights {

namespace {

constexpr const char* classify_help =
    R"text(Reads all run logs of the folder, and compares the largest peak of each test with what the test declares:
  over     the test used more. Raise what it declares, or other tests may run out of memory
  under    half of what the test declares, or less, would be enough. With less, more tests can run at once
  unknown  nothing was measured, or the largest figure is only a lower bound: a sample, an attempt that did not pass, or a test
           whose process still held memory of an earlier test. A lower bound is no reason to declare less
A new size is the largest peak that was measured on any device: rounded up to whole MiB if the declared size is too small, and
with 5 % more if it is too large. The declared size is that of the test's newest run.

--check reads only the newest run of each test, without tests whose executable was rebuilt since. Running tests are left out.

Examples:
  gputest classify --test-dir build
  gputest classify --test-dir build --check                   in continuous integration, after ctest

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  tests        list of objects: name, entry, test, verdict, class, declared_bytes (null: it declares a class), leased_bytes,
               measured_bytes (by device model), exact, runs (in which it was measured), advised_bytes (null: nothing to change, or
               more than any device has)
)text";

struct ClassifyOptions {
  std::string folder = "."; ///< where ctest was started
  std::string log;          ///< as for logs_of()
  bool check = false;
  bool json = false;
};

using Verdict = Declaration::Verdict;

const char* verdict_name(Verdict verdict) {
  constexpr std::array names{"over", "under", "unknown", "fits"};
  return names.at(static_cast<std::size_t>(verdict));
}

std::string declared_text(const Declaration& of) {
  return of.declared               ? to_string(Bytes{*of.declared})
         : of.whole_devices        ? "large"
         : of.memory_class.empty() ? to_string(Bytes{of.leased})
                                   : of.memory_class;
}

std::string measured_text(const Declaration& of) {
  if (of.measured.empty()) {
    return "-";
  }
  std::string text;
  for (const auto& [model, bytes] : of.measured) {
    text += (text.empty() ? "" : ", ") + to_string(Bytes{bytes}) +
            (of.measured.size() > 1 ? fmt::format(" ({})", model) : "");
  }
  return (of.lower_bound ? "at least " : "") + text;
}

std::string number_of(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

nlohmann::ordered_json to_json(const std::vector<Declaration>& declarations) {
  nlohmann::ordered_json json{{"version", tool::json_version}, {"tests", nlohmann::ordered_json::array()}};
  for (const auto& of : declarations) {
    nlohmann::ordered_json test{
        {"name", full_name(of.entry, of.test)}, {"entry", of.entry},        {"test", of.test},
        {"verdict", verdict_name(of.verdict)},  {"class", of.memory_class}, {"leased_bytes", of.leased},
        {"measured_bytes", of.measured},        {"exact", of.exact},        {"runs", of.runs}};
    test["declared_bytes"] = of.declared ? nlohmann::ordered_json(*of.declared) : nlohmann::ordered_json();
    test["advised_bytes"] =
        of.advised > Bytes{} ? nlohmann::ordered_json(of.advised.count()) : nlohmann::ordered_json();
    json["tests"].push_back(std::move(test));
  }
  return json;
}

void print_table(const std::vector<Declaration>& declarations) {
  tool::Table table{{{"TEST"},
                     {"DECLARED", tool::Align::right},
                     {"MEASURED", tool::Align::right},
                     {"RUNS", tool::Align::right},
                     {""},
                     {"ADVISED", tool::Align::right}}};
  std::vector<std::string> unknown;
  std::map<Verdict, std::size_t> count;
  for (const auto& of : declarations) {
    ++count[of.verdict];
    if (of.verdict == Verdict::over || of.verdict == Verdict::under) {
      table.add_row({full_name(of.entry, of.test), declared_text(of), measured_text(of), std::to_string(of.runs),
                     verdict_name(of.verdict), of.advised > Bytes{} ? to_string(of.advised) : "-"});
    } else if (of.verdict == Verdict::unknown) {
      unknown.push_back(tool::printable(full_name(of.entry, of.test)));
    }
  }
  if (count[Verdict::over] + count[Verdict::under] > 0) {
    fmt::print("{}\n", table.to_string());
  }
  fmt::print("{}: {} used more than declared, {} could declare less, {} declare the right size, {} not known.\n",
             number_of(declarations.size(), "test"), count[Verdict::over], count[Verdict::under], count[Verdict::fits],
             unknown.size());
  if (!unknown.empty()) {
    constexpr std::size_t most = 10;
    const auto more = unknown.size() - std::min(unknown.size(), most);
    unknown.resize(unknown.size() - more);
    fmt::print("Not known, or only a lower bound is: {}{}\n", fmt::join(unknown, ", "),
               more > 0 ? fmt::format(", and {} more (--json lists all)", more) : "");
  }
}

/// Whether the program's file is another one now, or is gone from the machine where the test ran.
bool has_changed(const LoggedProgram& program, const std::string& host) {
  if (program.path.empty()) {
    return false; // nobody knows
  }
  const auto now = os::stamp_of(program.path);
  return now ? !(*now == os::FileStamp{program.bytes, program.modified}) : host == os::host_name();
}

/// Leaves of each test the leases of its newest run, if its program is still the same. The others are of tests that may
/// have been mended, renamed or deleted. Throws Error if none is left.
void keep_what_is_true_now(std::vector<RunLogFile>& logs) {
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> changed;
  bool any = false;
  for (auto& [path, run] : logs) {
    std::set<std::pair<std::string, std::string>> of_run;
    std::vector<LoggedLease> kept;
    for (auto& lease : run.leases) {
      const std::pair test{lease.entry, lease.test};
      if (seen.count(test) != 0) {
        continue;
      }
      of_run.insert(test);
      if (has_changed(lease.program, run.host)) {
        changed.insert(lease.program.path);
      } else {
        kept.push_back(std::move(lease));
      }
    }
    run.leases = std::move(kept);
    any = any || !run.leases.empty();
    seen.insert(of_run.begin(), of_run.end());
  }
  for (const auto& program : changed) {
    fmt::print(stderr, "gputest: left out: runs of {}, which has changed since\n", tool::printable(program));
  }
  if (!any && !changed.empty()) {
    throw Error{"all programs of these tests have changed since they ran, so nothing can be checked. Run ctest first"};
  }
}

/// Takes out the tests that run now: nobody knows yet what they use, and they may declare more than in earlier runs.
void leave_out_running(std::vector<RunLogFile>& logs) {
  std::set<std::pair<std::string, std::string>> tests;
  for (const auto& [path, run] : logs) {
    for (const auto& lease : run.leases) {
      if (lease.running) {
        tests.emplace(lease.entry, lease.test);
      }
    }
    if (run.running) {
      fmt::print(stderr,
                 "gputest: ctest is still running (pid {}). Left out: tests that have not ended ({}). For tests that "
                 "have not started, earlier runs count\n",
                 run.ctest_pid, tests.size());
    }
  }
  for (auto& file : logs) {
    auto& leases = file.log.leases;
    const auto is_running = [&](const LoggedLease& lease) { return tests.count({lease.entry, lease.test}) != 0; };
    leases.erase(std::remove_if(leases.begin(), leases.end(), is_running), leases.end());
  }
}

tool::ExitCode classify(const ClassifyOptions& options) {
  auto logs = logs_of(options.folder, options.log);
  leave_out_running(logs);
  if (options.check) {
    keep_what_is_true_now(logs);
  }
  std::vector<const RunLog*> runs;
  runs.reserve(logs.size());
  for (const auto& file : logs) {
    runs.push_back(&file.log);
  }
  const auto declarations = declarations_of(runs);
  if (declarations.empty()) {
    throw Error{
        "no test in these run logs had a lease, so there is nothing to compare. Run the tests by ctest first, or "
        "name their logs with --log"};
  }
  if (options.json) {
    fmt::print("{}", tool::json_text(to_json(declarations)));
  } else {
    print_table(declarations);
  }
  return options.check && declarations.front().verdict == Verdict::over ? tool::ExitCode::check_failed : tool::ExitCode::done;
}

} // namespace

void add_classify(tool::CommandLine& line) {
  const auto options = std::make_shared<ClassifyOptions>();
  auto& command = line.add(
      tool::classify_command,
      classify_help + tool::exit_codes({{tool::ExitCode::check_failed, "--check: a test uses more than it declares"}}),
      [options](const auto& /*words*/) { return classify(*options); });
  add_place_of_logs(command, options->folder, options->log);
  command.add_flag("--check", options->check, "exit with 1 if a test uses more than it declares");
  command.add_flag("--json", options->json, "print JSON, for programs");
}

} // namespace gputest::insights
