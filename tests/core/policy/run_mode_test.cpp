// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/run_mode.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace gputest::policy {

static std::ostream& operator<<(std::ostream& out, RunMode mode) {
  constexpr const char* names[]{"direct", "serial", "parallel", "unknown"}; // NOLINT(*-avoid-c-arrays)
  return out << names[static_cast<int>(mode)];
}

namespace {

constexpr RunMode serial = RunMode::serial;
constexpr RunMode parallel = RunMode::parallel;
constexpr RunMode unknown = RunMode::unknown;

using Text = std::optional<std::string>;
using Jobs = std::optional<unsigned>;

struct Row {
  CtestSighting ctest;
  RunMode mode;
  Jobs jobs = std::nullopt;
  std::string because{}; // not looked at if it is empty
};

void expect(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const RunModeFinding finding = find_run_mode(row.ctest);
    EXPECT_EQ(finding.mode, row.mode) << finding.because;
    EXPECT_EQ(finding.jobs, row.jobs) << finding.because;
    EXPECT_EQ(row.because.empty() ? "" : finding.because, row.because);
  }
}

TEST(RunMode, is_direct_without_a_ctest) { EXPECT_EQ(find_run_mode(std::nullopt).mode, RunMode::direct); }

TEST(RunMode, is_what_the_last_option_says) {
  expect({{{{}}, serial, 1, "ctest without -j"},
          {{{"-V", "--output-on-failure"}}, serial, 1, {}},
          {{{"-j", "8"}}, parallel, 8, "ctest -j 8"},
          {{{"-V", "-j8"}}, parallel, 8, "ctest -j8"},
          {{{"-j=8"}}, parallel, 8, {}},
          {{{"-j 8"}}, parallel, 8, {}},
          {{{"--parallel", "8"}}, parallel, 8, {}},
          {{{"--parallel=8"}}, parallel, 8, {}},
          {{{"-j", "1"}}, serial, 1, {}},
          {{{"-j1"}}, serial, 1, {}},
          {{{"-j8", "-j1"}}, serial, 1, {}},
          {{{"-j1", "--parallel", "8"}}, parallel, 8, {}},
          {{{"--", "-j8"}}, serial, 1, {}},
          {{{"-j8", "--", "-j1"}}, parallel, 8, {}},
          {{{"-T", "Test", "-j8"}}, parallel, 8, {}},
          {{{"-j", "x"}}, unknown, {}, "ctest -j x, which is no number of jobs"},
          {{{"-j8x"}}, unknown, {}, {}}});
}

TEST(RunMode, is_parallel_without_a_number) {
  expect({{{{"-j"}}, parallel, {}, "ctest -j"},
          {{{"-j", ""}}, parallel, {}, {}},
          {{{"-j", "-V"}}, parallel, {}, {}},
          {{{"--parallel"}}, parallel, {}, {}},
          {{{"-j0"}}, parallel, {}, {}},
          {{{}, ""}, parallel, {}, {}},
          {{{"--preset", "ci"}, {}, ""}, parallel, {}, "test preset \"ci\" with a job for each CPU"}});
}

TEST(RunMode, is_what_the_command_line_says_before_a_preset_and_that_before_the_environment) {
  expect({{{{}, "4"}, parallel, 4, "CTEST_PARALLEL_LEVEL=4"},
          {{{}, "1"}, serial, 1, {}},
          {{{}, "x"}, unknown, {}, {}},
          {{{"-j1"}, "8"}, serial, 1, {}},
          {{{"-j8"}, "1"}, parallel, 8, {}},
          {{{"--preset", "ci"}, "8", "1"}, serial, 1, "test preset \"ci\" with 1 job"},
          {{{"--preset", "ci"}, "1", "8"}, parallel, 8, "test preset \"ci\" with 8 jobs"},
          {{{"--preset", "ci"}, "8"}, parallel, 8, {}},
          {{{"--preset=ci"}}, serial, 1, "test preset \"ci\" without jobs"},
          {{{"--preset", "ci", "-j1"}, {}, "8"}, serial, 1, {}},
          {{{"--preset", "ci"}, "8", {}, false}, unknown, {}, "test preset \"ci\", which could not be read"},
          {{{"--preset", "ci", "-j1"}, "8", {}, false}, serial, 1, {}}});
}

TEST(RunMode, is_unknown_under_a_script) {
  for (const char* const option : {"-S", "-SP", "-SR", "--script", "--script-new-process", "--script=run.cmake"}) {
    expect({{{{option, "run.cmake", "-j1"}}, unknown, {}, "a ctest script, which chooses the level itself"}});
  }
}

TEST(ArgumentsOfCtest, name_a_preset_and_options_in_either_form) {
  EXPECT_EQ(named_preset({"-V", "--preset", "ci"}), "ci");
  EXPECT_EQ(named_preset({"--preset=ci", "--preset", "dev"}), "ci");
  EXPECT_EQ(named_preset({"--preset"}), std::nullopt);
  EXPECT_EQ(named_preset({"--presets-file", "a.json", "--list-presets"}), std::nullopt);
  const std::string spec = "--resource-spec-file";
  EXPECT_FALSE(has_option({"-j4", "-R", "resource"}, spec));
  EXPECT_TRUE(has_option({spec, "gpus.json"}, spec));
  EXPECT_TRUE(has_option({"-j4", spec + "=gpus.json"}, spec));
}

TEST(LargePolicy, decides_by_policy_and_run_mode) {
  for (const auto mode : {RunMode::direct, RunMode::serial, RunMode::unknown, RunMode::parallel}) {
    const int number = static_cast<int>(mode);
    EXPECT_EQ(decide_large(LargePolicy::exclude, mode),
              mode == RunMode::parallel ? LargeDecision::exclude : LargeDecision::only_if_free)
        << number;
    EXPECT_EQ(decide_large(LargePolicy::serial, mode), LargeDecision::wait) << number;
    EXPECT_EQ(decide_large(LargePolicy::wait, mode), LargeDecision::wait) << number;
  }
}

TEST(LargePolicy, names_the_command_that_runs_the_test) {
  OneTest test;
  test.command = {"/build/solver_test", "--gtest_filter=*"};
  EXPECT_EQ(command_for_large(test), "/build/solver_test '--gtest_filter=*'");
  test.filter = "--gtest_filter=Big.Case/0";
  EXPECT_EQ(command_for_large(test), "/build/solver_test '--gtest_filter=*' --gtest_filter=Big.Case/0");
  test.ctest_name = "solver";
  EXPECT_EQ(command_for_large(test), "ctest -j1 -R '^solver$'");
  test.ctest_options = {"--test-dir", "/my build", "-C", "Debug"};
  EXPECT_EQ(command_for_large(test), "ctest --test-dir '/my build' -C Debug -j1 -R '^solver$'");
}

} // namespace

} // namespace gputest::policy
