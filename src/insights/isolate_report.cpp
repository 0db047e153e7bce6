// SPDX-License-Identifier: BSD-3-Clause
#include "insights/isolate_report.hpp"

#include "tool/json_text.hpp"
#include "tool/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace gputest::insights {

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

std::size_t count_compared(const Comparison& compared) {
  const auto has_run = [&](const std::string& test) {
    return std::any_of(compared.runs.begin(), compared.runs.end(), [&](const SuiteRun& run) {
      const auto result = result_in(run, test);
      return result == "passed" || result == "failed";
    });
  };
  return static_cast<std::size_t>(std::count_if(compared.in_workers.begin(), compared.in_workers.end(), has_run));
}

std::string to_text(const Comparison& compared) {
  tool::Table runs{{{"RUN"},
                    {"PASSED", tool::Align::right},
                    {"FAILED", tool::Align::right},
                    {"SKIPPED", tool::Align::right},
                    {"SECONDS", tool::Align::right}}};
  for (const auto& run : compared.runs) {
    runs.add_row({run.name, std::to_string(count(run, "passed")), std::to_string(count(run, "failed")),
                  std::to_string(count(run, "skipped")), fmt::format("{:.1f}", run.seconds)});
  }
  auto text = runs.to_string() + "\n";
  if (compared.differ.empty()) {
    const auto all = compared.in_workers.size();
    const auto skipped = all - count_compared(compared);
    return text +
           (skipped == all
                ? fmt::format("Nothing was compared: all {} tests that run in workers were skipped in every run. "
                              "'ctest -V' shows why\n",
                              all)
                : fmt::format("No result differs; {} tests run in workers{}.\n", all,
                              skipped == 0
                                  ? ""
                                  : fmt::format(", of which {} were skipped in every run and not compared", skipped)));
  }
  std::vector<tool::Table::Column> columns{{"RESULTS DIFFER"}};
  for (const auto& run : compared.runs) {
    columns.push_back({run.name});
  }
  tool::Table tests{columns};
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
    text += fmt::format("\n{} depends on other cases: it fails in a process of its own, also when repeated, and passes "
                        "after them. To see it:\n  {}\n",
                        test, command);
  }
  for (const auto& test : compared.unstable) {
    text +=
        fmt::format("\n{} failed in a process of its own beside other tests, and passed there when it was repeated by "
                    "itself: its result does not depend on earlier cases. It may share something (a file, a port) with "
                    "tests that run at the same time, or be flaky.\n",
                    test);
  }
  return text;
}

nlohmann::ordered_json to_json(const Comparison& compared) {
  nlohmann::ordered_json document;
  document["version"] = tool::json_version;
  document["runs"] = nlohmann::ordered_json::array();
  for (const auto& run : compared.runs) {
    document["runs"].push_back({{"name", run.name},
                                {"passed", count(run, "passed")},
                                {"failed", count(run, "failed")},
                                {"skipped", count(run, "skipped")},
                                {"s", run.seconds}});
  }
  document["compared"] = count_compared(compared);
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

} // namespace gputest::insights
