// SPDX-License-Identifier: BSD-3-Clause
#include "core/runlog/run_log.hpp"
#include "insights/commands.hpp"
#include "insights/github_report.hpp"
#include "insights/merge.hpp"
#include "insights/run_log_files.hpp"
#include "insights/text_file.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

namespace gputest::insights {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* merge_help =
    R"text(Joins the results of a suite that ran in shards: prints the summary that one ctest would print, and exits as that ctest would.
A test fails by name if no shard has a result of it, or several have. So does a result of a test that is not in the suite.

The suite is what 'ctest --show-only=json-v1' or 'pytest --collect-only -q' prints. A SHARD is the file that
'ctest --output-junit' or 'pytest --junitxml' wrote, or a folder with such files (*.xml), one for each run of that shard. Of
several runs, as by 'ctest --rerun-failed', the last that did not skip a test counts; where the times do not tell which one that
was, a failure counts. --log joins the newest run logs (*.jsonl) of each folder, or of its Testing/gputest: one for each JUnit file.

Examples:
  ctest --test-dir build --show-only=json-v1 > suite.json
  gputest merge --suite suite.json --junit merged.xml shard-*.xml
  gputest merge --suite suite.json --log merged.jsonl results-*/; gputest report --log merged.jsonl
)text";

struct Suite {
  TestTool tool = TestTool::ctest;
  std::vector<SuiteTest> tests;
};

Suite read_suite(const std::string& path) {
  const auto text = read_text(path);
  if (!text.empty() && text.front() == '{') {
    try {
      return {TestTool::ctest, parse_ctest_suite(text).tests};
    } catch (const Error& error) {
      throw Error{path + " cannot be used as --suite: " + error.what()};
    }
  }
  Suite suite{TestTool::pytest, {}};
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) { // a/test_b.py::T::test[x] is a.test_b.T.test[x] in JUnit files
    if (line.empty() && !suite.tests.empty()) {        // warnings and errors follow
      break;
    }
    if (line.find("::") != std::string::npos) {
      static const std::regex extension{R"(\.py$)"};
      static const std::regex separator{"::"};
      const auto parameters = std::min(line.find('['), line.size());
      const auto behind = std::min(line.find("::"), parameters); // where pytest changes no `/` and no `.py`
      auto file = std::regex_replace(line.substr(0, behind), extension, "");
      std::replace(file.begin(), file.end(), '/', '.');
      suite.tests.emplace_back().name =
          file + std::regex_replace(line.substr(behind, parameters - behind), separator, ".") + line.substr(parameters);
    }
  }
  return suite;
}

/// pytest-xdist appends `@` and a group to the names of tests (--dist loadgroup), and not in the suite's list.
void leave_out_groups(JunitRun& run, const std::set<std::string>& suite) {
  for (auto& result : run.results) {
    for (auto end = result.name.size(); end > 0 && end != std::string::npos; end = result.name.rfind('@', end - 1)) {
      if (suite.count(result.name.substr(0, end)) != 0) {
        result.name.resize(end);
        break;
      }
    }
  }
}

/// What cannot be read is added to `unread`.
Shard read_shard(const std::string& path, TestTool tool, std::vector<std::string>& unread) {
  std::error_code none;
  const auto files = fs::is_directory(path, none) ? files_in(path, ".xml") : std::vector{path};
  if (files.empty()) {
    unread.push_back(path + " has no JUnit file (*.xml). Run ctest with --output-junit FILE, and put FILE there");
  }
  Shard shard;
  for (const auto& file : files) {
    try {
      shard.push_back(read_junit(file, tool));
    } catch (const Error& error) {
      unread.emplace_back(error.what());
    }
  }
  return shard;
}

/// Adds the lines of a log. Processes of two machines have the same numbers, and simulated devices the same names.
void add_log(const RunLog& log, std::uint64_t& processes, std::string& lines) {
  std::map<json, std::uint64_t> numbers;
  std::istringstream text{read_text(log.path)};
  for (std::string line; std::getline(text, line);) {
    auto object = json::parse(line, nullptr, false);
    if (!object.is_object() || object["event"] == "run" || object["event"] == "merge") {
      continue;
    }
    const auto [number, is_new] = numbers.try_emplace(object["pid"], processes + 1);
    processes += is_new ? 1 : 0;
    object["pid"] = number->second;
    if (const auto devices = object.find("devices"); devices != object.end()) {
      for (auto& device : *devices) { // UUIDs, or objects
        auto& uuid = device.is_object() ? device["uuid"] : device;
        if (uuid.is_string()) {
          uuid = log.host + "/" + uuid.get<std::string>();
        }
      }
    }
    lines += object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
}

/// Those that can be read, the newest first. What cannot is said on stderr.
std::vector<RunLog> run_logs_in(const std::string& folder) try {
  return files_in(folder, ".jsonl").empty() ? std::vector<RunLog>{} : read_run_logs(folder);
} catch (const Error&) { // a node's disk was full, or the node was lost
  return {};
}

/// One log of those of all shards, which begins with what has failed. Empty: none has a log, or none is asked for.
/// What the logs say of entries becomes `facts`.
std::string merged_log(const MergeOptions& options, const std::vector<Shard>& shards,
                       const std::set<std::string>& failed, EntryFacts& facts) {
  std::string lines;
  std::set<std::string> hosts;
  std::uint64_t processes = 0;
  double begun = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (const auto& folder : {options.shards[i], options.shards[i] + "/Testing/gputest"}) {
      const auto logs = run_logs_in(folder);
      for (auto log = std::min(logs.size(), shards[i].size()); log-- > 0;) {
        begun = hosts.empty() ? logs[log].begun : std::min(begun, logs[log].begun);
        hosts.insert(logs[log].host);
        if (!options.log.empty()) {
          add_log(logs[log], processes, lines);
        }
        for (auto& [entry, properties] : facts_of(logs[log])) { // the newest log is the last
          facts[entry] = std::move(properties);
        }
      }
    }
  }
  if (hosts.empty() || options.log.empty()) {
    return "";
  }
  const json run{{"event", "run"},
                 {"t", begun},
                 {"version", runlog::run_log_version},
                 {"host", fmt::format("{}", fmt::join(hosts, ", "))}};
  const json merge{{"event", "merge"}, {"t", begun}, {"failed", failed}};
  return run.dump() + "\n" + merge.dump() + "\n" + lines;
}

/// The last lines of an output.
std::string end_of(const std::string& output) {
  constexpr std::size_t most = 4096;
  if (output.size() <= most) {
    return output;
  }
  const auto from = output.find('\n', output.size() - most);
  return output.substr(from == std::string::npos ? output.size() - most : from + 1);
}

/// What ctest prints in the end, with the failures that only a merge has.
std::string summary_of(const Merged& merged, const std::vector<std::string>& unread, double seconds) {
  std::size_t failures = 0;
  std::size_t total = 0;
  std::map<std::string, std::string> lists;
  const auto list = [&](const char* heading, std::size_t number, const std::string& name, const std::string& what) {
    lists[heading] += fmt::format("\t{:>3} - {} ({})\n", number, tool::printable(name), tool::printable(what));
  };
  for (std::size_t i = 0; i < merged.tests.size(); ++i) {
    const auto& test = merged.tests[i];
    const auto tries = std::count_if(test.attempts.begin(), test.attempts.end(),
                                     [](const RunResult* result) { return result->verdict <= TestVerdict::not_run; });
    const auto add = [&](const char* heading, const std::string& what) { list(heading, i + 1, test.name, what); };
    total += test.verdict == TestVerdict::disabled ? 0 : 1;
    if (test.has_failed()) {
      ++failures;
      add("FAILED", test.label);
    } else if (test.verdict != TestVerdict::passed) {
      add("did not run", test.verdict == TestVerdict::disabled ? "Disabled" : "Skipped");
    } else if (tries > 0) {
      add("passed when run again", fmt::format("failed {} of {} times", tries, test.attempts.size()));
    }
  }
  for (const auto& test : merged.unknown) {
    list("FAILED", merged.tests.size() + ++failures, test.name, test.label);
    ++total;
  }
  for (const auto& problem : unread) {
    list("FAILED", merged.tests.size() + ++failures, "gputest merge", "Unread: " + problem);
    ++total;
  }
  const auto percent =
      total == 0 ? 0 : std::lround(static_cast<double>(total - failures) * 100 / static_cast<double>(total));
  auto text = fmt::format("{}% tests passed, {} tests failed out of {}\n\nTotal Test time (real) = {:6.2f} sec\n",
                          failures > 0 && percent > 99 ? 99 : percent, failures, total, seconds); // as ctest rounds
  for (const auto* const heading : {"did not run", "passed when run again", "FAILED"}) {
    text += lists[heading].empty() ? "" : fmt::format("\nThe following tests {}:\n{}", heading, lists[heading]);
  }
  return text;
}

} // namespace

tool::ExitCode merge_shards(const MergeOptions& options) {
  if (options.suite.empty() || options.shards.empty()) {
    throw tool::WrongCommandLine{
        "write --suite with the list that 'ctest --show-only=json-v1' prints, and the JUnit file "
        "or the folder of each shard"};
  }
  const auto suite = read_suite(options.suite);
  if (suite.tests.empty()) {
    throw Error{options.suite +
                " has no test. Write --suite with a file that has what 'ctest --show-only=json-v1' or "
                "'pytest --collect-only -q' prints of the whole suite: a line for each test. If addopts "
                "of pytest has -q or -v, write 'pytest --collect-only --verbosity=-1'"};
  }
  std::set<std::string> of_pytest;
  for (const auto& test : suite.tests) {
    if (suite.tool == TestTool::pytest) {
      of_pytest.insert(test.name);
    }
  }
  std::vector<Shard> shards;
  std::vector<std::string> unread;
  double seconds = 0; // of the longest shard
  for (const auto& path : options.shards) {
    double of_shard = 0;
    for (auto& run : shards.emplace_back(read_shard(path, suite.tool, unread))) {
      leave_out_groups(run, of_pytest);
      of_shard += run.seconds;
    }
    seconds = std::max(seconds, of_shard);
  }
  const auto merged = merge_results(suite.tests, shards);
  fmt::print("{}", summary_of(merged, unread, seconds));
  std::set<std::string> failed;
  auto problems = unread;
  std::vector<FailedTest> for_github;
  for (const auto* const tests : {&merged.tests, &merged.unknown}) {
    for (const auto& test : *tests) {
      if (test.has_failed()) {
        failed.insert(test.name);
        const auto* const result = test.result;
        for_github.push_back({test.name, test.problem.empty() ? test.label : test.problem,
                              result == nullptr ? "" : end_of(result->output),
                              result == nullptr ? SourcePlace{} : place_of_failure(result->output)});
      }
      if (!test.problem.empty()) {
        problems.push_back(test.label + ": " + test.name + ": " + test.problem);
      }
    }
  }
  for (const auto& problem : problems) {
    fmt::print(stderr, "gputest: {}\n", tool::printable(problem));
  }
  if (options.format == "github") {
    for (const auto& problem : unread) {
      for_github.push_back({"gputest merge", problem, "", {}});
    }
    write_for_github(
        fmt::format("{} of {} tests failed", for_github.size(), merged.tests.size() + merged.unknown.size()),
        for_github, {}, "");
  }
  EntryFacts facts;
  const auto log = merged_log(options, shards, failed, facts);
  if (!options.junit.empty()) {
    write_text(options.junit, merged_junit(merged, unread, seconds, facts));
  }
  if (!options.log.empty()) {
    if (!log.empty()) {
      write_text(options.log, log);
    } else if (options.may_lack_log) {
      fmt::print(stderr, "gputest: no test has written a run log, so there is none for --log\n");
    } else {
      throw Error{"--log " + options.log +
                  ": no shard is a folder with a run log. Write folders with files *.jsonl, as " +
                  "ctest leaves them in Testing/gputest, or leave out --log"};
    }
  }
  return failed.empty() && problems.empty() ? tool::ExitCode::done : tool::ExitCode::tests_failed;
}

void add_merge(tool::CommandLine& line) {
  const auto options = std::make_shared<MergeOptions>();
  auto& command = line.add(
      tool::merge_command,
      merge_help +
          tool::exit_codes(
              {{tool::ExitCode::tests_failed,
                "as ctest: a test failed; or a result is missing, unknown or there twice; or a shard cannot be read"}}),
      [options](const auto& /*words*/) { return merge_shards(*options); });
  command.add_option("--suite", options->suite, "the list of all tests")->type_name("FILE");
  command.add_option("--junit", options->junit, "JUnit file to write, with each test once")->type_name("FILE");
  command.add_option("--format", options->format, "github: also what 'gputest report --format github' writes")
      ->type_name("text|github")
      ->check(CLI::IsMember({"text", "github"}));
  command.add_option("--log", options->log, "run log to write, for report and plan")->type_name("FILE");
  command.add_option("SHARD", options->shards, "JUnit files, or folders")->type_name("FILE|DIR");
}

} // namespace gputest::insights
