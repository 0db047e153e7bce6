// SPDX-License-Identifier: BSD-3-Clause
#include "cli/isolate_command.hpp"

#include "cli/ctest_apart.hpp"
#include "cli/json_text.hpp"
#include "cli/table.hpp"
#include "platform/supervised_command.hpp"
#include "policy/shell_words.hpp"
#include "report/test_log.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

namespace gputest::cli {

namespace {

constexpr int some_tests_failed = 8; // ctest's exit code

/// One run of the suite.
struct SuiteRun {
  std::string name;
  std::map<std::string, std::string> results; ///< by tests: `passed`, `failed`, `skipped`
  double seconds = 0;
};

/// What the runs show together.
struct Comparison {
  std::vector<SuiteRun> runs;
  std::vector<std::string> differ;             ///< tests
  std::map<std::string, std::string> commands; ///< by tests: what shows a dependence
};

std::string contents_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// How many tests run in workers.
std::size_t tests_in_workers(const std::string& list) {
  const auto document = nlohmann::json::parse(list, nullptr, false);
  const auto tests = document.value("tests", nlohmann::json::array());
  return static_cast<std::size_t>(std::count_if(tests.begin(), tests.end(), [](const nlohmann::json& test) {
    const auto command = test.value("command", std::vector<std::string>{});
    return !command.empty() && std::filesystem::path{command.front()}.filename() == "gputest-client";
  }));
}

/// Of ctest's lines `<number>:<name>`.
std::set<std::string> failed_tests(const std::string& logs) {
  std::set<std::string> names;
  std::ifstream file{logs + "/LastTestsFailed.log"};
  for (std::string line; std::getline(file, line);) {
    names.insert(line.substr(line.find(':') + 1));
  }
  return names;
}

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

SuiteRun run_suite(const IsolateArguments& arguments, std::string name, const std::string& setting,
                   const std::vector<std::string>& options, std::map<std::string, std::string>& commands) {
  const CtestApart ctest{arguments.folder, arguments.ctest_options};
  const auto output = ctest.path() + "/output";
  std::vector<std::string> command{"/usr/bin/env", setting, "sh", "-c", R"(exec "$@" >"$0" 2>&1 </dev/null)", output};
  const auto words = ctest.command(options);
  command.insert(command.end(), words.begin(), words.end());

  const auto begin = std::chrono::steady_clock::now();
  const auto end = platform::run_supervised(std::move(command));
  platform::unblock_signals(); // what ended ctest may be meant for this process, too
  SuiteRun run{std::move(name), {}, std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count()};
  if (end.error != 0 || end.signal != 0 || (end.status != 0 && end.status != some_tests_failed)) {
    throw Error{fmt::format("ctest ended with {} {} and this output:\n{}To see it again: {}",
                            end.signal != 0 ? "signal" : "exit code", end.signal != 0 ? end.signal : end.status,
                            contents_of(output), policy::shell_words(words))};
  }
  const auto log = contents_of(ctest.logs() + "/LastTest.log");
  const auto failed = failed_tests(ctest.logs());
  for (const auto& [test, logged] : report::parse_test_log(log)) {
    run.results[test] = failed.count(test) != 0 ? "failed" : logged.time ? "passed" : "skipped";
  }
  for (const auto& test : failed) { // of what could not be started, the log says nothing
    run.results[test] = "failed";
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

std::string result_in(const SuiteRun& run, const std::string& test) {
  const auto found = run.results.find(test);
  return found == run.results.end() ? "not run" : found->second;
}

std::size_t count(const SuiteRun& run, const std::string& result) {
  return static_cast<std::size_t>(std::count_if(run.results.begin(), run.results.end(),
                                                [&](const auto& of_test) { return of_test.second == result; }));
}

std::vector<std::string> tests_that_differ(const std::vector<SuiteRun>& runs) {
  std::set<std::string> names;
  for (const auto& run : runs) {
    for (const auto& [test, result] : run.results) {
      if (std::any_of(runs.begin(), runs.end(), [&, &name = test, &of_test = result](const SuiteRun& other) {
            return result_in(other, name) != of_test;
          })) {
        names.insert(test);
      }
    }
  }
  return {names.begin(), names.end()};
}

std::string to_text(const Comparison& compared, std::size_t in_workers) {
  Table runs{{{"RUN"},
              {"PASSED", Align::right},
              {"FAILED", Align::right},
              {"SKIPPED", Align::right},
              {"SECONDS", Align::right}}};
  for (const auto& run : compared.runs) {
    runs.add_row({run.name, std::to_string(count(run, "passed")), std::to_string(count(run, "failed")),
                  std::to_string(count(run, "skipped")), fmt::format("{:.1f}", run.seconds)});
  }
  auto text = runs.to_string() + "\n";
  if (compared.differ.empty()) {
    return text + fmt::format("No result differs; {} tests run in workers.\n", in_workers);
  }
  std::vector<Table::Column> columns{{"RESULTS DIFFER"}};
  for (const auto& run : compared.runs) {
    columns.push_back({run.name});
  }
  Table tests{columns};
  for (const auto& test : compared.differ) {
    std::vector<std::string> cells{test};
    for (const auto& run : compared.runs) {
      cells.push_back(result_in(run, test));
    }
    tests.add_row(std::move(cells));
  }
  text += tests.to_string();
  for (const auto& [test, command] : compared.commands) {
    text += fmt::format("\n{} fails after other cases in one process. To see it:\n  {}\n", test, command);
  }
  const auto& alone = compared.runs.front();
  for (const auto& test : compared.differ) {
    if (result_in(alone, test) == "failed") {
      text += fmt::format("\n{} fails in a process of its own, and passes after other cases: it needs what they leave. "
                          "To see it:\n  GPUTEST_ISOLATION=process ctest -R '^{}$' -V\n",
                          test, test);
    }
  }
  return text;
}

nlohmann::ordered_json to_json(const Comparison& compared) {
  nlohmann::ordered_json document;
  document["version"] = json_version;
  document["runs"] = nlohmann::ordered_json::array();
  for (const auto& run : compared.runs) {
    document["runs"].push_back({{"name", run.name},
                                {"passed", count(run, "passed")},
                                {"failed", count(run, "failed")},
                                {"skipped", count(run, "skipped")},
                                {"s", run.seconds}});
  }
  document["differ"] = nlohmann::ordered_json::array();
  for (const auto& test : compared.differ) {
    nlohmann::ordered_json results;
    for (const auto& run : compared.runs) {
      results.push_back(result_in(run, test));
    }
    const auto command = compared.commands.find(test);
    document["differ"].push_back({{"name", test},
                                  {"results", std::move(results)},
                                  {"command", command == compared.commands.end() ? "" : command->second}});
  }
  return document;
}

} // namespace

ExitCode isolate_command(const IsolateArguments& arguments) {
  const auto in_workers = tests_in_workers(CtestApart{arguments.folder, arguments.ctest_options}.list());
  if (in_workers == 0) {
    throw Error{"no test in " + arguments.folder +
                " runs in a worker, so there is nothing to compare. Write --test-dir with the folder in which you "
                "start ctest, and ISOLATION worker in its gpu_discover_tests()"};
  }
  const std::string dependence_fails = "GPUTEST_DEPENDENCE=fail";
  Comparison compared;
  const auto run = [&](std::string name, const std::string& setting, const std::vector<std::string>& options) {
    fmt::print(stderr, "gputest: run {} of {}: {}\n", compared.runs.size() + 1, arguments.shuffles + 2, name);
    compared.runs.push_back(run_suite(arguments, std::move(name), setting, options, compared.commands));
  };
  run("a process each", "GPUTEST_ISOLATION=process", {});
  run("workers", dependence_fails, {});
  for (std::size_t i = 1; i <= arguments.shuffles; ++i) {
    wait_for_the_next_second();
    run(arguments.shuffles == 1 ? "shuffled" : fmt::format("shuffled {}", i), dependence_fails, {"--schedule-random"});
  }
  compared.differ = tests_that_differ(compared.runs);
  fmt::print("{}", arguments.json ? json_text(to_json(compared)) : to_text(compared, in_workers));
  return compared.differ.empty() ? ExitCode::done : ExitCode::check_failed;
}

} // namespace gputest::cli
