// SPDX-License-Identifier: BSD-3-Clause
// What look_for_ctest() and find_run_mode() say of the real ctest at hand, against what that ctest does.

#include "core/os/program_output.hpp"
#include "core/os/run_mode/ctest_run.hpp"
#include "core/policy/run_mode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <ostream>

namespace gputest::tests {
namespace {

using Arguments = std::vector<std::string>;
using Environment = ChildProcess::Environment;

// `ctest version 3.25.1` and more.
std::string version_of_ctest() {
  const std::string output = os::output_of({GPUTEST_CTEST, "--version"}).value_or("");
  const std::string prefix = "ctest version ";
  return output.substr(std::min(prefix.size(), output.size()), output.find('\n') - prefix.size());
}

// Whether some versions of ctest refuse the arguments.
enum class Refused { never, for_the_level, for_another_option };

struct Row {
  const char* name;
  Arguments arguments;
  std::optional<std::string> level = std::nullopt; // CTEST_PARALLEL_LEVEL
  Refused refused = Refused::never;
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

class StartedAs : public testing::TestWithParam<Row> {};

TEST_P(StartedAs, finds_what_ctest_does) {
  const Row& row = GetParam();
  Environment environment;
  if (row.level)
    environment.emplace("CTEST_PARALLEL_LEVEL", *row.level);
  const auto result = CtestRun{}.run(row.arguments, environment);
  if (row.refused == Refused::never) {
    ASSERT_TRUE(result.ran) << result.output;
  }
  if (result.ran) {
    EXPECT_EQ(result.found, result.together ? "parallel" : "serial") << result.because << '\n' << result.output;
    return;
  }
  // What this ctest does not take for a level is not one.
  if (row.refused != Refused::for_the_level)
    return;
  policy::CtestSighting sighting;
  sighting.found = true;
  sighting.version = version_of_ctest();
  sighting.arguments = row.arguments;
  EXPECT_EQ(policy::find_run_mode(sighting).mode, policy::RunMode::unknown) << result.output;
}

const std::vector<Row> rows{
    {"nothing", {}},
    {"j_and_2", {"-j", "2"}},
    {"j2", {"-j2"}},
    {"j_blank_2", {"-j 2"}},
    {"parallel_and_2", {"--parallel", "2"}},
    {"j_and_1", {"-j", "1"}},
    {"j_is_2", {"-j=2"}, {}, Refused::for_the_level},
    {"parallel_is_2", {"--parallel=2"}, {}, Refused::for_the_level},
    {"j_is_nothing", {"-j="}, {}, Refused::for_the_level},
    {"j_alone", {"-j"}},
    {"parallel_alone", {"--parallel"}},
    {"j_before_an_option", {"-j", "-V"}},
    {"parallel_before_an_option", {"--parallel", "-V"}},
    {"j_before_j2", {"-j", "-j2"}},
    {"j_before_j1", {"-j", "-j1"}},
    {"j_and_an_empty_text", {"-j", ""}},
    {"j_and_0", {"-j", "0"}},
    {"j_and_x", {"-j", "x"}, {}, Refused::for_the_level},
    {"j2x", {"-j2x"}, {}, Refused::for_the_level},
    {"j2_and_j1", {"-j2", "-j1"}},
    {"j1_and_parallel_2", {"-j1", "--parallel", "2"}},
    {"j2_as_a_pattern", {"-E", "-j2"}, {}, Refused::for_another_option},
    {"j2_after_a_flag", {"-Q", "-j2"}},
    {"j2_for_the_tests", {"--", "-j2"}, {}, Refused::for_another_option},
    {"a_load_limit", {"-j2", "--test-load", "100000"}},
    {"a_dashboard_step", {"-T", "Test"}},
    {"a_dashboard_step_with_j2", {"-D", "ExperimentalTest", "-j2"}},
    {"level_2", {}, "2"},
    {"level_1", {}, "1"},
    {"level_0", {}, "0"},
    {"level_empty", {}, ""},
    {"level_blank", {}, " "},
    {"level_x", {}, "x"},
    {"level_2x", {}, "2x"},
    {"level_too_big", {}, "99999999999999999999"},
    {"j1_over_level_2", {"-j1"}, "2"},
    {"j2_over_level_1", {"-j", "2"}, "1"},
    {"j_over_level_2", {"-j", "-V"}, "2"},
    {"parallel_alone_over_level_2", {"--parallel"}, "2"},
    {"parallel_is_1_over_level_2", {"--parallel=1"}, "2", Refused::for_the_level},
};

INSTANTIATE_TEST_SUITE_P(RunMode, StartedAs, testing::ValuesIn(rows),
                         [](const auto& instance) { return std::string{instance.param.name}; });

TEST(StartedBy, a_script_that_chooses_the_level_is_unknown) {
  const std::string beginning = "set(CTEST_SOURCE_DIRECTORY [[@DIR@]])\nset(CTEST_BINARY_DIRECTORY [[@DIR@/build]])\n"
                                "ctest_start(Experimental)\n";
  for (const char* level : {"PARALLEL_LEVEL 2", ""}) {
    const auto result =
        CtestRun{{{"run.cmake", beginning + "ctest_test(" + level + ")\n"}}}.run({"-S", "@DIR@/run.cmake"});
    ASSERT_TRUE(result.ran) << result.output;
    EXPECT_EQ(result.together, *level != '\0');
    EXPECT_EQ(result.found, "unknown");
  }
}

TEST(StartedBy, make_flags_prove_nothing) {
  const auto result = CtestRun{}.run({}, {{"MAKEFLAGS", " -j4 --jobserver-auth=3,4"}});
  ASSERT_TRUE(result.ran) << result.output;
  EXPECT_EQ(result.found, result.together ? "parallel" : "serial");
}

struct PresetRow {
  const char* name;
  const char* test_preset; // what it says beside its name
  Arguments more = {};
  std::optional<std::string> level = std::nullopt;
  bool always_runs = true;
  const char* configure_preset = ""; // likewise
};

std::ostream& operator<<(std::ostream& out, const PresetRow& row) { return out << row.name; }

std::string presets(const std::string& test_preset, const std::string& configure_preset = "", int version = 4) {
  return R"({"version": )" + std::to_string(version) + R"(, "configurePresets": [{"name": "base",
    "generator": "Unix Makefiles", "binaryDir": "${sourceDir}/build")" +
         configure_preset + R"(}], "testPresets": [
    {"name": "first", "hidden": true, "execution": {"stopOnFailure": false}},
    {"name": "two", "hidden": true, "execution": {"jobs": 2}},
    {"name": "run-mode", "configurePreset": "base")" +
         test_preset + "}]}";
}

void expect_found_as_done(const CtestRun::Result& result) {
  EXPECT_EQ(result.found, result.together ? "parallel" : "serial") << result.because << '\n' << result.output;
}

class StartedWithPreset : public testing::TestWithParam<PresetRow> {};

TEST_P(StartedWithPreset, finds_what_ctest_does) {
  const PresetRow& row = GetParam();
  Arguments arguments{"--preset", "run-mode"};
  arguments.insert(arguments.end(), row.more.begin(), row.more.end());
  Environment environment;
  if (row.level)
    environment.emplace("CTEST_PARALLEL_LEVEL", *row.level);
  CtestRun ctest{{{"CMakePresets.json", presets(row.test_preset, row.configure_preset)}}};
  const auto result = ctest.run(arguments, environment, "@DIR@");
  if (row.always_runs) {
    ASSERT_TRUE(result.ran) << result.output;
  }
  if (result.ran)
    expect_found_as_done(result);
}

const std::vector<PresetRow> preset_rows{
    {"without_jobs", ""},
    {"jobs_2", R"(, "execution": {"jobs": 2})"},
    {"jobs_1", R"(, "execution": {"jobs": 1})"},
    {"jobs_0", R"(, "execution": {"jobs": 0})"},
    {"jobs_2_and_j1", R"(, "execution": {"jobs": 2})", {"-j1"}},
    {"jobs_1_and_j2", R"(, "execution": {"jobs": 1})", {"-j", "2"}},
    {"jobs_2_and_j", R"(, "execution": {"jobs": 2})", {"-j"}},
    {"jobs_2_and_parallel_is_1", R"(, "execution": {"jobs": 2})", {"--parallel=1"}, {}, false},
    {"jobs_1_over_level_2", R"(, "execution": {"jobs": 1})", {}, "2"},
    {"without_jobs_and_level_2", "", {}, "2"},
    {"inherited_jobs", R"(, "inherits": ["first", "two"])"},
    {"own_jobs_over_inherited", R"(, "inherits": "two", "execution": {"jobs": 1})"},
    {"its_own_level", R"(, "environment": {"CTEST_PARALLEL_LEVEL": "2"})", {}, "1"},
    {"no_level_of_its_own", R"(, "environment": {"CTEST_PARALLEL_LEVEL": null})", {}, "2"},
    {"level_of_the_configure_preset", "", {}, {}, true, R"(, "environment": {"CTEST_PARALLEL_LEVEL": "2"})"},
    {"level_not_inherited",
     R"(, "inheritConfigureEnvironment": false)",
     {},
     {},
     true,
     R"(, "environment": {"CTEST_PARALLEL_LEVEL": "2"})"},
    {"another_test_dir", R"(, "execution": {"jobs": 2})", {"--test-dir", "build"}},
};

INSTANTIATE_TEST_SUITE_P(RunMode, StartedWithPreset, testing::ValuesIn(preset_rows),
                         [](const auto& instance) { return std::string{instance.param.name}; });

TEST(StartedWithPresets, of_the_user_and_of_included_files) {
  const std::string included = R"({"version": 4, "testPresets": [
    {"name": "included", "hidden": true, "execution": {"jobs": 2}}]})";
  const std::string user = R"({"version": 4, "include": ["more/presets.json"], "testPresets": [
    {"name": "mine", "inherits": ["included", "run-mode"]}]})";
  CtestRun ctest{
      {{"CMakePresets.json", presets("")}, {"CMakeUserPresets.json", user}, {"more/presets.json", included}}};
  const auto result = ctest.run({"--preset=mine"}, {}, "@DIR@");
  ASSERT_TRUE(result.ran) << result.output;
  EXPECT_TRUE(result.together);
  EXPECT_EQ(result.found, "parallel");
  EXPECT_EQ(result.because, "test preset \"mine\" with 2 jobs");
}

// From 4.3 on; an older ctest refuses the file.
TEST(StartedWithPresets, a_job_for_each_cpu) {
  CtestRun ctest{{{"CMakePresets.json", presets(R"(, "execution": {"jobs": ""})", "", 11)}}};
  const auto result = ctest.run({"--preset", "run-mode"}, {}, "@DIR@");
  if (result.ran) {
    expect_found_as_done(result);
  } else {
    EXPECT_NE(result.output.find("Could not read presets"), std::string::npos) << result.output;
  }
}

// From 4.4 on; an older ctest ignores the option, or refuses it.
TEST(StartedWithPresets, of_a_file_of_its_own) {
  CtestRun ctest{{{"CMakePresets.json", presets(R"(, "execution": {"jobs": 1})")},
                  {"more/presets.json", presets(R"(, "execution": {"jobs": 2})")}}};
  const auto result = ctest.run({"--preset", "run-mode", "--presets-file", "more/presets.json"}, {}, "@DIR@");
  ASSERT_TRUE(result.ran) << result.output;
  expect_found_as_done(result);
}

// Whatever PWD says: not every parent is a shell.
TEST(StartedWithPresets, of_the_source_folder_that_the_build_tree_knows) {
  CtestRun ctest{{{"CMakePresets.json", presets(R"(, "execution": {"jobs": 2})")},
                  {"other/CMakePresets.json", presets(R"(, "execution": {"jobs": 1})")},
                  {"build/CMakeCache.txt", "CMAKE_HOME:INTERNAL=/\nCMAKE_HOME_DIRECTORY:INTERNAL=@DIR@\nA:BOOL=ON\n"}}};
  const auto result = ctest.run({"--preset", "run-mode"}, {{"PWD", "@DIR@/other"}}, "@DIR@");
  ASSERT_TRUE(result.together) << result.output;
  EXPECT_EQ(result.found, "parallel");
}

TEST(StartedWithPresets, of_the_folder_that_the_shell_names) {
  CtestRun ctest{{{"CMakePresets.json", presets(R"(, "execution": {"jobs": 2})")}, {"build/CMakeCache.txt", ""}}};
  const auto result = ctest.run({"--preset", "run-mode"}, {}, "@DIR@");
  ASSERT_TRUE(result.together) << result.output;
  EXPECT_EQ(result.found, "parallel");
}

TEST(StartedWithPresets, from_an_unknown_folder_is_unknown) {
  CtestRun ctest{{{"CMakePresets.json", presets(R"(, "execution": {"jobs": 2})")}, {"build/CMakeCache.txt", ""}}};
  const auto result = ctest.run({"--preset", "run-mode"}, {{"PWD", "/"}}, "@DIR@");
  ASSERT_TRUE(result.ran) << result.output;
  EXPECT_EQ(result.found, "unknown");
  EXPECT_EQ(result.because, "test preset \"run-mode\", which could not be read");
}

} // namespace
} // namespace gputest::tests
