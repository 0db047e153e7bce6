// SPDX-License-Identifier: BSD-3-Clause
#include "cli/isolate_report.hpp"

#include "cli/json_text.hpp"
#include "cli/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace gputest::cli {

namespace {

std::size_t count(const SuiteRun& run, const std::string& result) {
  return static_cast<std::size_t>(std::count_if(run.results.begin(), run.results.end(),
                                                [&](const auto& of_test) { return of_test.second == result; }));
}

/// Empty: none is known, such as for a test whose time was over in one run.
std::string command_of(const Comparison& compared, const std::string& test) {
  for (const auto* const commands : {&compared.spoiled, &compared.dependent}) {
    if (const auto found = commands->find(test); found != commands->end()) {
      return found->second;
    }
  }
  return "";
}

} // namespace

std::string result_in(const SuiteRun& run, const std::string& test) {
  const auto found = run.results.find(test);
  return found == run.results.end() ? "not run" : found->second;
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

std::string to_text(const Comparison& compared, std::size_t count_in_workers) {
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
    return text + fmt::format("No result differs; {} tests run in workers.\n", count_in_workers);
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
  for (const auto& [test, command] : compared.spoiled) {
    text += fmt::format("\n{} fails after other cases in one process. To see it:\n  {}\n", test, command);
  }
  for (const auto& [test, command] : compared.dependent) {
    text += fmt::format("\n{} fails in a process of its own, and passes after other cases: it needs what they leave. "
                        "To see it:\n  {}\n",
                        test, command);
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
    document["differ"].push_back(
        {{"name", test}, {"results", std::move(results)}, {"command", command_of(compared, test)}});
  }
  return document;
}

} // namespace gputest::cli
