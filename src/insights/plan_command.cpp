// SPDX-License-Identifier: BSD-3-Clause
#include "insights/plan_command.hpp"

#include "core/policy/large_policy.hpp"
#include "core/policy/simulated_devices.hpp"
#include "insights/ctest_list.hpp"
#include "insights/plan_report.hpp"
#include "insights/run_log_files.hpp"
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
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace gputest::insights {

namespace {

constexpr const char* plan_help =
    R"text(Asks ctest for its tests, and takes their times from the run logs (Testing/gputest) and from ctest's CTestCostData.txt.
Then it plays the suite: ctest's order of tests, its -j, RUN_SERIAL, RESOURCE_LOCK, PROCESSORS,
DEPENDS and fixtures, and the ledger's own decisions on memory. No test is started. The GPUs are those of this machine, with what
is free of them now, or those of --devices, which takes the same options as GPUTEST_DEVICES (8x80GiB,context=600MiB).

An entry asks for what CMake says, or for what its tests were granted in the last run, if that is more. Its time is that of the last run that has it,
without waits: starting CUDA is slower beside others that start it, so times of a run at -j1 serve any other -j. --times takes one run log alone.

Splitting: each test is in exactly one shard. Tests that come after one another (DEPENDS, fixtures) stay together. A clean-up of a
fixture that no test sets up is in each shard that has a test of that fixture, because ctest runs it there in any case.
A split depends on the tests, --shards and --times alone, and on nothing that a run leaves: all shards need the same log, or none, with
which all tests count alike. They print the fingerprint of the split; --fingerprint refuses another one.

Examples:
  gputest plan --test-dir build -j16
  gputest plan --test-dir build -j64 --devices 8x80GiB -- -L gpu
  gputest plan --test-dir build --shards 4
  gputest plan --times kept.jsonl --shards "$CI_NODE_TOTAL" --shard "$CI_NODE_INDEX" > tests.txt && ctest --tests-from-file tests.txt   (CMake 3.29)
  ctest -I "$(gputest plan --shards 4 --shard 2 --numbers)"   (any CMake)

--json prints one object:
  version      1; goes up when a key is removed or changes its meaning
  with --shards:
    fingerprint  the same for the same split
    shards       list of objects: shard (from 1), work_s (sum of the times of those that run), predicted_s, not_run
               (how many would not run here), tests (names)
  else:
    jobs, tests, measured (how many of them have a time)
    predicted_s
    bounds     list of objects, largest first: kind (longest_test, jobs, memory, contexts), s, test (the longest)
    runs       list of objects: name, why_not (why it would not run, else empty), start_s, end_s, devices (their indices)
)text";

struct PlanOptions {
  std::string folder = ".";                        ///< where ctest would be started
  std::string times;                               ///< a run log; empty: what `folder` has
  std::optional<policy::SimulatedDevices> devices; ///< nullopt: those of this machine
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::size_t shards = 0;  ///< 0: it is not split
  std::size_t shard = 0;   ///< from 1; 0: all of them
  std::string fingerprint; ///< that the split has to have; empty: any
  bool numbers = false;
  bool json = false;
  std::vector<std::string> ctest_options;
};

/// What starting CUDA takes of a machine, in a process that does nothing else: cuInit() and a context, measured with an
/// H200 (188 ms, by how many of 702 processes were done in a second).
constexpr PlannedSeconds usual_context_time{0.19};

/// The times of one run log.
MeasuredEntries times_in(const std::string& path) try {
  if (std::filesystem::is_directory(path)) {
    throw Error{path + " is a folder"};
  }
  auto measured = measured_entries(read_run_logs(path).front().log);
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
CtestSuite suite_of(const PlanOptions& options, PlanReport& report) {
  MeasuredEntries measured;
  CtestCostData costs;
  if (!options.times.empty()) {
    measured = times_in(options.times);
    report.times = options.times;
  } else if (options.shards == 0) {
    measured = times_of_runs(options.folder);
    const auto path = options.folder + "/Testing/Temporary/CTestCostData.txt";
    costs = std::filesystem::exists(path) ? parse_cost_data(read_text(path)) : costs;
    report.times = "the run logs and CTestCostData.txt of " + options.folder;
  }
  return parse_ctest_suite(list_ctest(options.folder, options.ctest_options), measured, costs);
}

PlannedMachine machine_of(const PlanOptions& options) {
  PlannedMachine machine;
  machine.jobs = options.jobs;
  machine.context_time = usual_context_time;
  if (const auto& simulated = options.devices) {
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
  return machine;
}

/// Whether it runs on no machine, so that its time, which would be that of other tests, counts nowhere. What depends on
/// the machine, or on -j, does not count here: machines would split the suite otherwise.
bool runs_nowhere(const PlannedTest& test) {
  const auto mode = test.serial ? policy::RunMode::serial : policy::RunMode::parallel;
  return test.disabled || (test.request && test.request->memory_class == MemoryClass::large &&
                           policy::decide_large(test.large, mode) == policy::LargeDecision::exclude);
}

std::vector<ShardReport> split(const PlanReport& report, const PlanOptions& options) {
  const auto& tests = report.suite.tests;
  auto counted = tests;
  for (auto& test : counted) {
    test.time = runs_nowhere(test) ? PlannedSeconds{} : test.time;
  }
  std::vector<ShardReport> shards;
  for (auto& tests_of_shard : assign_shards(counted, options.shards)) {
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

/// Throws WrongCommandLine for what CLI11 cannot know.
void check(const PlanOptions& options) {
  if (options.shard > options.shards) {
    throw tool::WrongCommandLine{fmt::format("--shard {} of --shards {}: write a number from 1 to {}", options.shard,
                                             options.shards, options.shards)};
  }
  const auto& words = options.ctest_options;
  const bool selects = !words.empty() && (words.size() != 2 || (words[0] != "-C" && words[0] != "--build-config"));
  if (options.numbers && selects) {
    throw tool::WrongCommandLine{"--numbers are those of all tests of ctest; write only -C CONFIG after '--'"};
  }
}

tool::ExitCode plan(const PlanOptions& options) {
  check(options);
  PlanReport report;
  report.suite = suite_of(options, report);
  if (report.suite.tests.empty()) {
    throw Error{"ctest lists no test in " + options.folder +
                ". Write --test-dir with the folder in which you start ctest"};
  }
  report.machine = machine_of(options);
  if (options.shards == 0) {
    report.plan = plan_suite(report.suite.tests, report.machine);
    fmt::print("{}", options.json ? tool::json_text(to_json(report)) : to_text(report));
    return tool::ExitCode::done;
  }
  const auto shards = split(report, options);
  const auto print = fingerprint(report.suite, shards);
  if (!options.fingerprint.empty() && options.fingerprint != print) {
    throw Error{
        fmt::format("this is another split: its fingerprint is {}, and --fingerprint asks for {}. Tests would be "
                    "lost, or run twice. Split the same tests, with the same --shards and the same --times",
                    print, options.fingerprint)};
  }
  if (options.shard != 0) {
    const auto& shard = shards[options.shard - 1];
    fmt::print("{}", tests_of(report, shard, options.numbers));
    fmt::print(
        stderr,
        "gputest: shard {} of {}: {} tests{}, {:.1f} s of work; fingerprint {}, which all shards of one split have\n",
        options.shard, options.shards, shard.tests.size(),
        shard.not_run == 0 ? "" : fmt::format(", of which {} would not run here", shard.not_run), shard.work.count(),
        print);
    return tool::ExitCode::done;
  }
  fmt::print("{}", options.json ? tool::json_text(to_json(report, shards)) : to_text(report, shards));
  return tool::ExitCode::done;
}

} // namespace

void add_plan(tool::CommandLine& line) {
  const auto options = std::make_shared<PlanOptions>();
  auto& command = line.add(
      tool::plan_command, plan_help + tool::exit_codes(),
      [options](const std::vector<std::string>& words) {
        options->ctest_options = words;
        return plan(*options);
      },
      "[OPTIONS] [-- CTEST_OPTION...]");
  add_test_dir(command, options->folder, "where ctest is started");
  command.add_option("--times", options->times, "a run log (default: those in DIR; with --shards: none)")
      ->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--devices",
          [options](const std::string& value) {
            try {
              options->devices = policy::parse_simulated_devices(value);
            } catch (const InvalidSetting& error) {
              throw InvalidSetting{"--devices " + value + ": " + error.what() + "; write such as 8x80GiB"};
            }
          },
          "plan for other GPUs than this machine's, as 8x80GiB")
      ->type_name("NxSIZE");
  command.add_option("-j,--parallel", options->jobs, "ctest's -j (default: the number of processors)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  auto* shards = command.add_option("--shards", options->shards, "split the suite into N shards of equal time")
                     ->type_name("N")
                     ->check(CLI::Range(1, 10000));
  auto* shard = command.add_option("--shard", options->shard, "print the tests of shard I, from 1 to N, for ctest")
                    ->type_name("I")
                    ->check(CLI::Range(1, 10000))
                    ->needs(shards);
  command.add_flag("--numbers", options->numbers, "print their numbers for ctest -I, in place of their names")
      ->needs(shard);
  command.add_option("--fingerprint", options->fingerprint, "refuse another split than the one with this fingerprint")
      ->type_name("HEX")
      ->needs(shards);
  command.add_flag("--json", options->json, "print JSON, for programs")->excludes(shard);
}

} // namespace gputest::insights
