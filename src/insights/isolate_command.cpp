// SPDX-License-Identifier: BSD-3-Clause
#include "insights/isolate_command.hpp"

#include "core/os/reason.hpp"
#include "core/policy/exact_regex.hpp"
#include "core/policy/shell_words.hpp"
#include "insights/ctest_apart.hpp"
#include "insights/ctest_cost_data.hpp"
#include "insights/ctest_suite.hpp"
#include "insights/entry_runs.hpp"
#include "insights/isolate_report.hpp"
#include "insights/run_log_files.hpp"
#include "insights/text_file.hpp"
#include "tool/json_text.hpp"
#include "workers/process_end.hpp"
#include "workers/supervised_command.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace gputest::insights {

namespace {

constexpr const char* isolate_help =
    R"text(Runs the tests that ctest selects three times: each in a process of its own (GPUTEST_ISOLATION=process), in workers in ctest's order,
and in workers in a random order. Prints each test whose result is not the same in all of them and, where it knows one, a command that
shows why: of a test that fails after others, and of one that passes only after others. It says "depends on" only of what it has
repeated: a test that failed in a process of its own runs there twice more, one at a time. ctest runs apart from DIR, so its last log stays as it is.

Only cases of gpu_discover_tests(... ISOLATION worker) run in workers. What other tests do shows whether they are stable.

Examples:
  gputest isolate --test-dir build -- -j8
  gputest isolate --test-dir build --shuffles 10 -- -j8 -L gpu_small

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  runs         list of objects: name, passed, failed, skipped, s
  compared     how many tests in workers passed or failed in a run
  differ       list of objects: name, results (passed, failed, skipped, not run; in the order of the runs), command (what shows
               the dependence; empty: none was found)
)text";

struct IsolateOptions {
  std::string folder = "."; ///< where ctest would be started
  std::size_t shuffles = 1;
  bool json = false;
  std::vector<std::string> ctest_options;
};

constexpr int some_tests_failed = 8; // ctest's exit code

/// How the cases of workers run, whatever the shell of this command says of it.
using RunSettings = std::array<const char*, 3>;
constexpr RunSettings in_processes{"GPUTEST_ISOLATION=process", "GPUTEST_DEPENDENCE=show", "GPUTEST_MPS=off"};
constexpr RunSettings in_workers{"GPUTEST_ISOLATION=worker", "GPUTEST_DEPENDENCE=fail", "GPUTEST_MPS=off"};

/// Of the lines with which a case says that it depends on others, the commands that show it.
void find_commands(const std::string& log, std::map<std::string, std::string>& commands) {
  const std::string begin = "gputest: dependence: ";
  const std::string after_name = " passed alone, and failed after ";
  const std::string before_command = "To see it: ";
  std::istringstream lines{log};
  for (std::string line; std::getline(lines, line);) {
    const auto name_end = line.find(after_name);
    const auto command = line.rfind(before_command);
    if (line.compare(0, begin.size(), begin) == 0 && name_end != std::string::npos && command != std::string::npos) {
      commands[line.substr(begin.size(), name_end - begin.size())] = line.substr(command + before_command.size());
    }
  }
}

/// For a shell: ctest with these settings, and these options after the user's.
std::string command_line(const CtestApart& ctest, std::vector<std::string> settings,
                         const std::vector<std::string>& options) {
  auto words = std::move(settings);
  const auto command = ctest.command_in_place(options);
  words.insert(words.end(), command.begin(), command.end());
  return policy::shell_words(words);
}

/// The entries that gputest, or their tests, have skipped, by the run logs in the folder.
std::set<std::string> skipped_entries(const std::string& folder) {
  std::set<std::string> names;
  if (std::filesystem::exists(folder)) {
    for (const auto& file : read_run_logs(folder)) {
      for (const auto& [name, run] : entry_runs(file.log)) {
        if (run.skipped()) {
          names.insert(name);
        }
      }
    }
  }
  return names;
}

SuiteRun run_suite(const IsolateOptions& isolate, const CtestSuite& suite, std::string name,
                   const RunSettings& settings, const std::vector<std::string>& options,
                   std::map<std::string, std::string>& commands) {
  const CtestApart ctest{isolate.folder, isolate.ctest_options};
  const auto output = ctest.path() + "/output";
  std::vector<std::string> command{"/usr/bin/env"};
  command.insert(command.end(), settings.begin(), settings.end());
  const auto run_logs = ctest.path() + "/run_logs";
  command.insert(command.end(), {"GPUTEST_LOG=" + run_logs, "sh", "-c", R"(exec "$@" >"$0" 2>&1 </dev/null)", output});
  const auto words = ctest.command(options);
  command.insert(command.end(), words.begin(), words.end());

  const auto begin = std::chrono::steady_clock::now();
  const auto end = workers::run_supervised(std::move(command));
  if (end.signal == SIGINT || end.signal == SIGTERM || end.signal == SIGHUP || end.signal == SIGQUIT) {
    workers::end_by_signal(end.signal); // it was meant for this process, too
  }
  workers::unblock_signals();
  SuiteRun run{std::move(name), {}, std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count()};
  if (end.error != 0) {
    throw Error{"ctest cannot be started: " + os::reason(end.error)};
  }
  if (end.signal != 0 || (end.status != 0 && end.status != some_tests_failed)) {
    throw Error{fmt::format("ctest ended with {} {} and this output:\n{}To see it again: {}",
                            end.signal != 0 ? "signal" : "exit code", end.signal != 0 ? end.signal : end.status,
                            read_text(output), command_line(ctest, {settings.begin(), settings.end()}, options))};
  }
  const auto log = read_text(ctest.logs() + "/LastTest.log");
  const auto failed = parse_cost_data(read_text(ctest.logs() + "/CTestCostData.txt")).failed;
  const auto skipped = skipped_entries(run_logs);
  for (const auto& test : suite.tests) {
    if (!test.disabled) {
      run.results[test.name] = failed.count(test.name) != 0    ? "failed"
                               : skipped.count(test.name) != 0 ? "skipped"
                                                               : "passed";
    }
  }
  find_commands(log, commands);
  return run;
}

/// ctest seeds its random order with the time in seconds: runs that begin in one have the same order.
void wait_for_the_next_second() {
  using namespace std::chrono;
  const auto now = system_clock::now();
  std::this_thread::sleep_until(time_point_cast<seconds>(now) + seconds{1});
}

/// Repeats, one at a time, the tests that failed in processes of their own and passed in a worker. Those that fail each
/// time depend on others; the failure of the rest may have come from tests that ran at the same time.
void repeat_alone(Comparison& compared, IsolateOptions alone, const CtestSuite& suite, const CtestApart& ctest) {
  std::set<std::string> failed;
  alone.ctest_options.insert(alone.ctest_options.end(), {"-j1", "-R", ""});
  for (const auto& test : compared.differ) {
    const bool passes = std::any_of(compared.runs.begin(), compared.runs.end(),
                                    [&](const SuiteRun& run) { return result_in(run, test) == "passed"; });
    if (passes && result_in(compared.runs.front(), test) == "failed") {
      alone.ctest_options.back() += (failed.empty() ? "" : "|") + policy::exact_regex(test);
      failed.insert(test);
    }
  }
  constexpr int times = 2;
  for (int i = 1; i <= times && !failed.empty(); ++i) {
    fmt::print(stderr, "gputest: repeat {} of {}: what failed in a process of its own\n", i, times);
    std::map<std::string, std::string> unused;
    const auto run = run_suite(alone, suite, "", in_processes, {}, unused);
    for (auto test = failed.begin(); test != failed.end();) {
      if (result_in(run, *test) == "failed") {
        ++test;
      } else {
        compared.unstable.insert(*test);
        test = failed.erase(test);
      }
    }
  }
  for (const auto& test : failed) {
    compared.dependent[test] = command_line(ctest, {in_processes.front()}, {"-R", policy::exact_regex(test), "-V"});
  }
}

tool::ExitCode isolate(const IsolateOptions& options) {
  const CtestApart ctest{options.folder, options.ctest_options};
  const auto suite = parse_ctest_suite(ctest.list());
  Comparison compared;
  for (const auto& test : suite.tests) {
    if (test.in_worker) {
      compared.in_workers.insert(test.name);
    }
  }
  if (compared.in_workers.empty()) {
    throw Error{"no test in " + options.folder +
                " runs in a worker, so there is nothing to compare. Write --test-dir with the folder in which you "
                "start ctest, and ISOLATION worker in its gpu_discover_tests()"};
  }
  const auto run = [&](std::string name, const RunSettings& settings, const std::vector<std::string>& of_ctest) {
    fmt::print(stderr, "gputest: run {} of {}: {}\n", compared.runs.size() + 1, options.shuffles + 2, name);
    compared.runs.push_back(run_suite(options, suite, std::move(name), settings, of_ctest, compared.spoiled));
  };
  run("a process each", in_processes, {});
  run("workers", in_workers, {});
  for (std::size_t i = 1; i <= options.shuffles; ++i) {
    wait_for_the_next_second();
    run(options.shuffles == 1 ? "shuffled" : fmt::format("shuffled {}", i), in_workers, {"--schedule-random"});
  }
  compared.differ = tests_that_differ(compared.runs);
  repeat_alone(compared, options, suite, ctest);
  fmt::print("{}", options.json ? tool::json_text(to_json(compared)) : to_text(compared));
  return compared.differ.empty() && count_compared(compared) > 0 ? tool::ExitCode::done : tool::ExitCode::check_failed;
}

} // namespace

void add_isolate(tool::CommandLine& line) {
  const auto options = std::make_shared<IsolateOptions>();
  auto& command = line.add(
      tool::isolate_command,
      isolate_help + tool::exit_codes({{tool::ExitCode::check_failed,
                                        "the result of a test is not the same in all runs, or all tests in workers "
                                        "were skipped"}}),
      [options](const std::vector<std::string>& words) {
        options->ctest_options = words;
        return isolate(*options);
      },
      "[OPTIONS] [-- CTEST_OPTION...]");
  add_test_dir(command, options->folder, "where ctest is started");
  command.add_option("--shuffles", options->shuffles, "how many runs have a random order (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000));
  command.add_flag("--json", options->json, "print JSON, for programs");
}

} // namespace gputest::insights
