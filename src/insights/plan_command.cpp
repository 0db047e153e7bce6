// SPDX-License-Identifier: BSD-3-Clause
#include "insights/plan_command.hpp"

#include "core/policy/large_policy.hpp"
#include "insights/ctest_apart.hpp"
#include "insights/plan_report.hpp"
#include "insights/run_log_files.hpp"
#include "insights/run_logs.hpp"
#include "insights/shards.hpp"
#include "insights/text_file.hpp"
#include "tool/devices_command.hpp"
#include "tool/json_text.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

namespace gputest::insights {

namespace {

/// What starting CUDA takes of a machine, in a process that does nothing else: cuInit() and a context, measured with an
/// H200 (188 ms, by how many of 702 processes were done in a second).
constexpr PlannedSeconds usual_context_time{0.19};

/// The times of one run log.
MeasuredEntries times_in(const std::string& path) try {
  if (std::filesystem::is_directory(path)) {
    throw Error{path + " is a folder"};
  }
  std::vector<std::string> problems;
  auto measured = measured_entries(read_run_logs(path, problems).front().log);
  if (measured.empty()) {
    throw Error{path + " has no entry of ctest"};
  }
  return measured;
} catch (const Error& error) {
  throw InvalidSetting{std::string{"--times: "} + error.what() +
                       "; write the path of a run log, as Testing/gputest/run-*.jsonl of a run of the whole suite"};
}

/// Of each entry, those of the newest run that has it. Of a suite that has not run yet, none.
MeasuredEntries times_of_runs(const std::string& folder) try {
  MeasuredEntries measured;
  for (const auto& file : logs_of(folder, "")) {
    for (auto& [name, entry] : measured_entries(file.log)) {
      if (auto& newest = measured[name]; !newest.time) {
        newest = std::move(entry);
      }
    }
  }
  return measured;
} catch (const InvalidSetting&) {
  throw;
} catch (const Error&) {
  return {};
}

/// A split must not depend on what the run of one shard leaves for the next, so only --times has times for it.
CtestSuite suite_of(const tool::PlanArguments& arguments, PlanReport& report) {
  MeasuredEntries measured;
  CtestCostData costs;
  if (!arguments.times.empty()) {
    measured = times_in(arguments.times);
    report.times = arguments.times;
  } else if (arguments.shards == 0) {
    measured = times_of_runs(arguments.folder);
    const auto path = arguments.folder + "/Testing/Temporary/CTestCostData.txt";
    costs = std::filesystem::exists(path) ? parse_cost_data(read_text(path)) : costs;
    report.times = "the run logs and CTestCostData.txt of " + arguments.folder;
  }
  return parse_ctest_suite(CtestApart{arguments.folder, arguments.ctest_options}.list(), measured, costs);
}

PlannedMachine machine_of(const tool::PlanArguments& arguments) {
  PlannedMachine machine;
  machine.jobs = arguments.jobs.value_or(std::max(1U, std::thread::hardware_concurrency()));
  machine.scheduled = !arguments.waits_in_job;
  machine.context_time = usual_context_time;
  if (const auto& simulated = arguments.devices) {
    for (int i = 0; i < simulated->count; ++i) {
      const auto number = std::to_string(i);
      machine.devices.push_back({{number, "GPU", simulated->size, false}, simulated->facts, simulated->size});
    }
    machine.context = simulated->context;
  } else {
    for (const auto& report : tool::look_at_devices(settings_from_environment(), devices::AskDriver::yes).devices) {
      if (const auto bytes = tool::bytes_for_tests(report)) {
        machine.devices.push_back({report.device, report.facts, *bytes});
        machine.context = std::max(machine.context, Bytes{report.next_context_bytes});
      }
      if (report.device.simulated) {
        machine.context_time = {};
      }
    }
  }
  machine.context_time = arguments.context_time.value_or(machine.context_time);
  return machine;
}

/// Whether it runs on no machine, so that its time, which would be that of other tests, counts nowhere. What depends on
/// the machine, or on -j, does not count here: machines would split the suite otherwise.
bool runs_nowhere(const PlannedTest& test) {
  const auto mode = test.serial ? policy::RunMode::serial : policy::RunMode::parallel;
  return test.disabled || (test.request && test.request->memory_class == MemoryClass::large &&
                           policy::decide_large(test.large, mode) == policy::LargeDecision::exclude);
}

std::vector<ShardReport> split(const PlanReport& report, const tool::PlanArguments& arguments) {
  const auto& tests = report.suite.tests;
  auto counted = tests;
  for (auto& test : counted) {
    test.time = runs_nowhere(test) ? PlannedSeconds{} : test.time;
  }
  std::vector<ShardReport> shards;
  for (auto& tests_of_shard : assign_shards(counted, arguments.shards)) {
    auto& shard = shards.emplace_back();
    shard.tests = std::move(tests_of_shard);
    std::map<std::size_t, std::size_t> position_in_shard;
    for (const auto test : shard.tests) {
      position_in_shard.emplace(test, position_in_shard.size());
    }
    std::vector<PlannedTest> of_shard;
    for (const auto test : shard.tests) {
      auto& planned = of_shard.emplace_back(tests[test]);
      planned.after.clear();
      for (const auto before : tests[test].after) {
        if (const auto found = position_in_shard.find(before); found != position_in_shard.end()) {
          planned.after.push_back(found->second);
        }
      }
    }
    const auto plan = plan_suite(of_shard, report.machine);
    shard.time = plan.time;
    for (std::size_t i = 0; i < of_shard.size(); ++i) {
      if (plan.runs[i].why_not.empty()) {
        shard.work += of_shard[i].time;
      } else {
        ++shard.not_run;
      }
    }
  }
  return shards;
}

/// For ctest: a name on each line, or the argument of its option -I.
std::string tests_of(const PlanReport& report, const ShardReport& shard, bool numbers) {
  std::string text;
  for (const auto test : shard.tests) {
    text += numbers ? fmt::format(",{}", test + 1) : report.suite.tests[test].name + "\n";
  }
  if (numbers) {
    // Without any number ctest would select all tests.
    text = "0,0,0" + (text.empty() ? fmt::format(",{}", report.suite.tests.size() + 1) : text) + "\n";
  }
  return text;
}

} // namespace

tool::ExitCode plan_command(const tool::PlanArguments& arguments) {
  PlanReport report;
  report.suite = suite_of(arguments, report);
  if (report.suite.tests.empty()) {
    throw Error{"ctest lists no test in " + arguments.folder +
                ". Write --test-dir with the folder in which you start ctest"};
  }
  report.machine = machine_of(arguments);
  if (arguments.shards == 0) {
    report.plan = plan_suite(report.suite.tests, report.machine);
    fmt::print("{}", arguments.json ? tool::json_text(to_json(report)) : to_text(report));
    return tool::ExitCode::done;
  }
  const auto shards = split(report, arguments);
  const auto print = fingerprint(report.suite, shards);
  if (!arguments.fingerprint.empty() && arguments.fingerprint != print) {
    throw Error{
        fmt::format("this is another split: its fingerprint is {}, and --fingerprint asks for {}. Tests would be "
                    "lost, or run twice. Split the same tests, with the same --shards and the same --times",
                    print, arguments.fingerprint)};
  }
  if (arguments.shard != 0) {
    const auto& shard = shards[arguments.shard - 1];
    fmt::print("{}", tests_of(report, shard, arguments.numbers));
    fmt::print(
        stderr,
        "gputest: shard {} of {}: {} tests{}, {:.1f} s of work; fingerprint {}, which all shards of one split have\n",
        arguments.shard, arguments.shards, shard.tests.size(),
        shard.not_run == 0 ? "" : fmt::format(", of which {} would not run here", shard.not_run), shard.work.count(),
        print);
    return tool::ExitCode::done;
  }
  fmt::print("{}", arguments.json ? tool::json_text(to_json(report, shards)) : to_text(report, shards));
  return tool::ExitCode::done;
}

} // namespace gputest::insights
