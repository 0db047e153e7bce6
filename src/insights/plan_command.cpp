// SPDX-License-Identifier: BSD-3-Clause
#include "insights/commands.hpp"

#include "core/policy/text.hpp"
#include "insights/ctest_list.hpp"
#include "insights/ctest_suite.hpp"
#include "insights/shards.hpp"
#include "tool/table.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace gputest::insights {

namespace {

constexpr const char* plan_help =
    R"text(Asks ctest for its tests, and splits them into shards of about equal time. It starts no test.

Each test is in exactly one shard. Tests that depend on each other (DEPENDS, fixtures) stay together. The exception is a clean-up
test of a fixture without a set-up test: ctest runs it in every shard that has a test of that fixture.

Times are those of the run log --times, without waiting. A test that it does not have counts as the mean of the others. A split
depends only on the tests, --shards and --times, and not on earlier runs. Pass the same run log to all shards, or none;
without a log all tests count as equally long. Each shard prints the fingerprint of its split. --fingerprint refuses a
different split.

Examples:
  gputest plan --test-dir build --shards 4
  gputest plan --times kept.jsonl --shards "$CI_NODE_TOTAL" --shard "$CI_NODE_INDEX" > tests.txt && ctest --tests-from-file tests.txt   (CMake 3.29)
  numbers="$(gputest plan --shards 4 --shard 2 --numbers)" && ctest -I "$numbers"   (any CMake)

--json prints one object. Times are null if no test has one:
  version      1; goes up when a key is removed or changes its meaning
  fingerprint  the same for the same split
  shards       list of objects: shard (from 1), work_s (sum of the times of those that run), not_run (how many of its tests do not run:
             disabled, or large and excluded), tests (names)
)text";

struct PlanOptions {
  std::string folder = "."; ///< where ctest would be started
  std::string times;        ///< a run log; empty: all tests count alike
  std::size_t shards = 0;   ///< 0: not given
  std::size_t shard = 0;    ///< from 1; 0: all of them
  std::string fingerprint;  ///< that the split has to have; empty: any
  bool numbers = false;
  bool json = false;
  std::vector<std::string> ctest_options;
};

using Json = nlohmann::ordered_json;
using Shards = std::vector<std::vector<std::size_t>>;

/// The same for splits in which each shard has the same tests.
std::string fingerprint(const CtestSuite& suite, const Shards& shards) {
  std::string text;
  for (const auto& shard : shards) {
    text += "shard\n";
    for (const auto test : shard) {
      text += fmt::format("{} {}\n", test, suite.tests[test].name);
    }
  }
  return fmt::format("{:016x}", policy::fnv1a(text));
}

Json to_json(const CtestSuite& suite, const Shards& shards) {
  Json json{{"version", tool::json_version}, {"fingerprint", fingerprint(suite, shards)}, {"shards", Json::array()}};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    double work = 0;
    std::size_t not_run = 0;
    auto names = Json::array();
    for (const auto test : shards[i]) {
      work += suite.tests[test].seconds;
      not_run += suite.tests[test].runs_nowhere ? 1 : 0;
      names.push_back(suite.tests[test].name);
    }
    json["shards"].push_back({{"shard", i + 1},
                              {"work_s", suite.measured > 0 ? Json(work) : Json(nullptr)},
                              {"not_run", not_run},
                              {"tests", std::move(names)}});
  }
  return json;
}

std::string to_text(const CtestSuite& suite, const Json& split, const std::string& times) {
  auto text = fmt::format("{} tests\n", suite.tests.size());
  if (times.empty()) {
    text +=
        "All tests count alike. For shards of equal time write --times with a run log, as Testing/gputest/run-*.jsonl "
        "of a run of the whole suite.\n";
  } else if (const auto unknown = suite.tests.size() - suite.measured; unknown > 0) {
    text += fmt::format("Tests without a time in {}: {}; {:.1f} s each is assumed.\n", times, unknown,
                        suite.assumed_seconds);
  }
  tool::Table table{{{"SHARD", tool::Align::right},
                     {"TESTS", tool::Align::right},
                     {"WOULD NOT RUN", tool::Align::right},
                     {"WORK", tool::Align::right}}};
  for (const auto& shard : split["shards"]) {
    table.add_row({shard["shard"].dump(), std::to_string(shard["tests"].size()), shard["not_run"].dump(),
                   shard["work_s"].is_null() ? "-" : fmt::format("{:.1f} s", shard["work_s"].get<double>())});
  }
  return text + "\n" + table.to_string() + "\nfingerprint of the split: " + split["fingerprint"].get<std::string>() +
         "\n";
}

/// For ctest: a name on each line, or the argument of its option -I.
std::string tests_of(const CtestSuite& suite, const std::vector<std::size_t>& shard, bool numbers) {
  std::string text;
  std::vector<std::size_t> of_tests;
  for (const auto test : shard) {
    text += suite.tests[test].name + "\n";
    of_tests.push_back(test + 1);
  }
  if (of_tests.empty()) {
    of_tests.push_back(suite.tests.size() + 1); // without any number ctest would select all tests
  }
  return numbers ? selection_of(of_tests) : text;
}

/// Throws WrongCommandLine for what CLI11 cannot know.
void check(const PlanOptions& options) {
  if (options.shards == 0) {
    throw tool::WrongCommandLine{"write --shards with the number of machines on which the suite is to run"};
  }
  if (options.shard > options.shards) {
    throw tool::WrongCommandLine{fmt::format("--shard {} of --shards {}: write a number from 1 to {}", options.shard,
                                             options.shards, options.shards)};
  }
  const auto& words = options.ctest_options;
  const bool selects = !words.empty() && (words.size() != 2 || (words[0] != "-C" && words[0] != "--build-config"));
  if (options.numbers && selects) {
    throw tool::WrongCommandLine{
        "--numbers counts all tests of ctest, so no option may select some of them; write only -C CONFIG after '--'"};
  }
}

tool::ExitCode plan(const PlanOptions& options) {
  check(options);
  const auto suite =
      parse_ctest_suite(list_ctest(options.folder, options.ctest_options), times_of_split(options.times));
  if (suite.tests.empty()) {
    throw Error{"ctest lists no test in " + options.folder +
                ". Write --test-dir with the folder in which you start ctest"};
  }
  const auto shards = assign_shards(suite.tests, options.shards);
  const auto split = to_json(suite, shards);
  const auto print = split["fingerprint"].get<std::string>();
  if (!options.fingerprint.empty() && options.fingerprint != print) {
    throw Error{
        fmt::format("this is another split: its fingerprint is {}, and --fingerprint asks for {}. Tests would be "
                    "lost, or run twice. Split the same tests, with the same --shards and the same --times",
                    print, options.fingerprint)};
  }
  if (options.shard != 0) {
    fmt::print("{}", tests_of(suite, shards[options.shard - 1], options.numbers));
    const auto& shard = split["shards"][options.shard - 1];
    fmt::print(stderr, "gputest: shard {} of {}: {} tests{}{}; fingerprint {}, which all shards of one split have\n",
               options.shard, options.shards, shard["tests"].size(),
               shard["not_run"] == 0 ? "" : fmt::format(", of which {} would not run", shard["not_run"].dump()),
               suite.measured == 0 ? "" : fmt::format(", {:.1f} s of work", shard["work_s"].get<double>()), print);
    return tool::ExitCode::done;
  }
  fmt::print("{}", options.json ? tool::json_text(split) : to_text(suite, split, options.times));
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
  tool::add_test_dir(command, options->folder, "where ctest is started");
  command.add_option("--times", options->times, "a run log (default: all tests count alike)")->type_name("FILE");
  command.add_option("--shards", options->shards, "split the suite into N shards of equal time")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  auto* shard = command.add_option("--shard", options->shard, "print the names of the tests of shard I, from 1 to N")
                    ->type_name("I")
                    ->check(CLI::Range(1, 10000));
  command.add_flag("--numbers", options->numbers, "print numbers for ctest -I instead of names")->needs(shard);
  command.add_option("--fingerprint", options->fingerprint, "fail if the split has another fingerprint")
      ->type_name("HEX");
  command.add_flag("--json", options->json, "print JSON, for programs")->excludes(shard);
}

} // namespace gputest::insights
