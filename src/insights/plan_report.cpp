// SPDX-License-Identifier: BSD-3-Clause
#include "insights/plan_report.hpp"

#include "core/policy/fnv1a.hpp"

#include "tool/json_text.hpp"
#include "tool/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace gputest::insights {

namespace {

std::string duration(PlannedSeconds time) {
  if (time.count() < 100) {
    return fmt::format("{:.1f} s", time.count());
  }
  const auto seconds = std::llround(time.count());
  return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
}

const char* name_of(PlanBound::Kind kind) {
  constexpr std::array names{"longest_test", "jobs", "memory", "contexts"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string for_people(const PlanBound& bound, unsigned jobs) {
  switch (bound.kind) {
  case PlanBound::Kind::longest:
    return "the longest test: " + bound.test;
  case PlanBound::Kind::jobs:
    return fmt::format("the work, on {} of ctest's jobs", jobs);
  case PlanBound::Kind::memory:
    return "GPU memory: bytes times seconds, on all GPUs";
  case PlanBound::Kind::contexts:
    break;
  }
  return "starting CUDA, one process after another";
}

std::string devices_text(const PlannedMachine& machine) {
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> kinds;
  for (const auto& device : machine.devices) {
    ++kinds[{device.device.name, device.free.count()}];
  }
  std::string text;
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{} x {} with {} for tests", text.empty() ? "" : ", ", count, kind.first,
                        to_string(Bytes{kind.second}));
  }
  return text.empty() ? "no GPU" : text;
}

std::string heading(const PlanReport& report, bool of_shards) {
  const auto& suite = report.suite;
  auto text =
      fmt::format("{} tests at -j{}, {}\n", suite.tests.size(), report.machine.jobs, devices_text(report.machine));
  if (of_shards && report.times.empty()) {
    text +=
        "All tests count alike. For shards of equal time write --times with a run log, as Testing/gputest/run-*.jsonl "
        "of a run of the whole suite.\n";
  } else if (suite.measured == 0) {
    text +=
        fmt::format("No test has a time in {}; 1 s each is assumed. Run the suite once with ctest.\n", report.times);
  } else if (suite.measured < suite.tests.size()) {
    const auto unknown = suite.tests.size() - suite.measured;
    text += fmt::format("{} no time in {}; the mean of the others, {}, is assumed.\n",
                        unknown == 1 ? "1 test has" : fmt::format("{} tests have", unknown), report.times,
                        duration(suite.assumed_time));
  }
  return text;
}

} // namespace

std::string to_text(const PlanReport& report) {
  const auto& plan = report.plan;
  auto text = heading(report, false);
  text += fmt::format("\nIt would take {}.\n", duration(plan.time));
  constexpr double nearly = 1.01;
  const auto least = plan.bounds.empty() ? PlannedSeconds{} : plan.bounds.front().time;
  if (report.suite.measured == report.suite.tests.size() && plan.time <= nearly * least) {
    text += "No order of the tests makes it shorter, if they take as long as they did:\n";
  } else {
    text += "Another order of the tests may make it shorter, but not shorter than these, if they take so long:\n";
  }
  tool::Table bounds{{{"", tool::Align::right}, {""}}};
  for (const auto& bound : plan.bounds) {
    bounds.add_row({"  " + duration(bound.time), for_people(bound, report.machine.jobs)});
  }
  const auto table = bounds.to_string();
  text += table.substr(table.find('\n') + 1);

  std::map<std::string, std::vector<std::string>> not_run;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    if (!plan.runs[i].why_not.empty()) {
      not_run[plan.runs[i].why_not].push_back(report.suite.tests[i].name);
    }
  }
  for (const auto& [why, names] : not_run) {
    text += fmt::format("\n{} would not run ({}):\n",
                        names.size() == 1 ? "1 test" : fmt::format("{} tests", names.size()), why);
    constexpr std::size_t most = 20;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
      text += "  " + names[i] + "\n";
    }
    if (names.size() > most) {
      text += fmt::format("  and {} more (--json lists all)\n", names.size() - most);
    }
  }
  return text;
}

nlohmann::ordered_json to_json(const PlanReport& report) {
  nlohmann::ordered_json json{{"version", tool::json_version},           {"jobs", report.machine.jobs},
                              {"tests", report.suite.tests.size()},      {"measured", report.suite.measured},
                              {"predicted_s", report.plan.time.count()}, {"bounds", nlohmann::ordered_json::array()},
                              {"runs", nlohmann::ordered_json::array()}};
  for (const auto& bound : report.plan.bounds) {
    json["bounds"].push_back({{"kind", name_of(bound.kind)}, {"s", bound.time.count()}, {"test", bound.test}});
  }
  for (std::size_t i = 0; i < report.plan.runs.size(); ++i) {
    const auto& run = report.plan.runs[i];
    auto devices = nlohmann::ordered_json::array();
    for (std::size_t d = 0; d < report.machine.devices.size(); ++d) {
      if ((run.devices >> d & 1U) != 0) {
        devices.push_back(d);
      }
    }
    json["runs"].push_back({{"name", report.suite.tests[i].name},
                            {"why_not", run.why_not},
                            {"start_s", run.start.count()},
                            {"end_s", run.end.count()},
                            {"devices", std::move(devices)}});
  }
  return json;
}

std::string to_text(const PlanReport& report, const std::vector<ShardReport>& shards) {
  auto text = heading(report, true) + "\n";
  tool::Table table{{{"SHARD", tool::Align::right},
                     {"TESTS", tool::Align::right},
                     {"WOULD NOT RUN", tool::Align::right},
                     {"WORK", tool::Align::right},
                     {"WOULD TAKE", tool::Align::right}}};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    table.add_row({std::to_string(i + 1), std::to_string(shards[i].tests.size()), std::to_string(shards[i].not_run),
                   duration(shards[i].work), duration(shards[i].time)});
  }
  return text + table.to_string() + "\nfingerprint of the split: " + fingerprint(report.suite, shards) + "\n";
}

nlohmann::ordered_json to_json(const PlanReport& report, const std::vector<ShardReport>& shards) {
  nlohmann::ordered_json json{{"version", tool::json_version},
                              {"fingerprint", fingerprint(report.suite, shards)},
                              {"shards", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    auto names = nlohmann::ordered_json::array();
    for (const auto test : shards[i].tests) {
      names.push_back(report.suite.tests[test].name);
    }
    json["shards"].push_back({{"shard", i + 1},
                              {"work_s", shards[i].work.count()},
                              {"predicted_s", shards[i].time.count()},
                              {"not_run", shards[i].not_run},
                              {"tests", std::move(names)}});
  }
  return json;
}

std::string fingerprint(const CtestSuite& suite, const std::vector<ShardReport>& shards) {
  std::string text;
  for (const auto& shard : shards) {
    text += "shard\n";
    for (const auto test : shard.tests) {
      text += fmt::format("{} {}\n", test, suite.tests[test].name);
    }
  }
  return fmt::format("{:016x}", policy::fnv1a(text));
}

} // namespace gputest::insights
