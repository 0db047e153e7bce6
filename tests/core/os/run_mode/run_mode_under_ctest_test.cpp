// SPDX-License-Identifier: BSD-3-Clause
// What look_for_ctest() and find_run_mode() say of the real ctest at hand, against what that ctest does.

#include "support/child_process.hpp"
#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace gputest::tests {
namespace {

/// A project of two tests, of which the first says what it finds; see ctest_observer.cpp.
class CtestRun {
public:
  /// Makes a source folder with these files, and a build tree in `build` below it that knows its source folder.
  ///
  /// `@DIR@` in a file's text, in `arguments` and in `folder` of run() stands for the source folder.
  explicit CtestRun(const std::map<std::string, std::string>& files = {}) {
    folder_.make_folder("build");
    write("build/CTestTestfile.cmake",
          "add_test(a /bin/sh -c [[exec '" GPUTEST_CTEST_OBSERVER "' find > '@DIR@/found']])\nadd_test(b /bin/true)\n");
    write("build/CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=@DIR@\n");
    for (const auto& [name, text] : files) {
      write(name, text);
    }
  }

  /// What a run of ctest came to.
  struct Result {
    bool ran = false;      ///< whether the first test ran
    bool together = false; ///< whether the second one was started before the first had ended
    std::string found;     ///< the run mode that the first found
    std::string because;
    std::string output; ///< of ctest, for messages
  };

  /// Runs ctest in `folder`, with `variables` and PATH for its environment.
  [[nodiscard]] Result run(const std::vector<std::string>& arguments, ChildProcess::Environment variables = {},
                           const std::string& folder = "@DIR@/build") const {
    std::vector<std::string> command{"/usr/bin/env", "-C", filled(folder), GPUTEST_CTEST};
    for (const std::string& argument : arguments) {
      command.push_back(filled(argument));
    }
    variables.emplace("PATH", "/usr/bin:/bin");
    const Ended ended = ChildProcess{command, variables}.finish();
    Result result;
    result.output = ended.out + ended.err;
    result.together = result.output.find("Start 2: b") < result.output.find("1/2 Test"); // it prints what it starts
    std::ifstream found{folder_.path() + "/found"};
    result.ran = std::getline(found, result.found) && std::getline(found, result.because);
    return result;
  }

private:
  void write(const std::string& name, const std::string& text) const { folder_.write(name, filled(text), 0600); }

  [[nodiscard]] std::string filled(std::string text) const {
    const std::string mark = "@DIR@";
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, mark.size(), folder_.path());
    }
    return text;
  }

  PrivateFolder folder_;
};

struct Row {
  const char* name;
  std::vector<std::string> arguments;
  std::optional<std::string> level = std::nullopt; // CTEST_PARALLEL_LEVEL
  const char* test_preset = nullptr;               // what it says beside its name
  const char* configure_preset = "";               // likewise
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

std::string presets(const Row& row) {
  return std::string{R"({"version": 4, "configurePresets": [{"name": "base",
    "generator": "Unix Makefiles", "binaryDir": "${sourceDir}/build")"} +
         row.configure_preset + R"(}], "testPresets": [
    {"name": "first", "hidden": true, "execution": {"stopOnFailure": false}},
    {"name": "two", "hidden": true, "execution": {"jobs": 2}},
    {"name": "run-mode", "configurePreset": "base")" +
         row.test_preset + "}]}";
}

class StartedAs : public testing::TestWithParam<Row> {};

TEST_P(StartedAs, finds_what_ctest_does) {
  const Row& row = GetParam();
  auto arguments = row.arguments;
  std::map<std::string, std::string> files;
  if (row.test_preset != nullptr) {
    arguments.insert(arguments.end(), {"--preset", "run-mode"});
    files.emplace("CMakePresets.json", presets(row));
  }
  ChildProcess::Environment environment{{"MAKEFLAGS", " -j4 --jobserver-auth=3,4"}}; // which proves nothing
  if (row.level) {
    environment.emplace("CTEST_PARALLEL_LEVEL", *row.level);
  }
  const auto result = CtestRun{files}.run(arguments, environment, row.test_preset == nullptr ? "@DIR@/build" : "@DIR@");
  ASSERT_TRUE(result.ran) << result.output;
  EXPECT_EQ(result.found, result.together ? "parallel" : "serial") << result.because << '\n' << result.output;
}

// Only what all versions of ctest read alike; see find_run_mode().
INSTANTIATE_TEST_SUITE_P(
    RunMode, StartedAs,
    testing::ValuesIn(std::vector<Row>{
        {"nothing", {}},
        {"j_and_2", {"-j", "2"}},
        {"j2", {"-j2"}},
        {"parallel_and_2", {"--parallel", "2"}},
        {"j_and_1", {"-j", "1"}},
        {"j2_and_j1", {"-j2", "-j1"}},
        {"j1_and_parallel_2", {"-j1", "--parallel", "2"}},
        {"a_dashboard_step_with_j2", {"-D", "ExperimentalTest", "-j2"}},
        {"level_2", {}, "2"},
        {"level_1", {}, "1"},
        {"j1_over_level_2", {"-j1"}, "2"},
        {"j2_over_level_1", {"-j", "2"}, "1"},
        {"preset_without_jobs", {}, {}, ""},
        {"preset_with_jobs_2", {}, {}, R"(, "execution": {"jobs": 2})"},
        {"preset_with_jobs_1_over_level_2", {}, "2", R"(, "execution": {"jobs": 1})"},
        {"preset_with_jobs_2_and_j1", {"-j1"}, {}, R"(, "execution": {"jobs": 2})"},
        {"preset_with_inherited_jobs", {}, {}, R"(, "inherits": ["first", "two"])"},
        {"preset_without_jobs_and_level_2", {}, "2", ""},
        {"preset_with_level_2", {}, "1", R"(, "environment": {"CTEST_PARALLEL_LEVEL": "2"})"},
        {"preset_with_no_level", {}, "2", R"(, "environment": {"CTEST_PARALLEL_LEVEL": null})"},
        {"configure_preset_with_level_2", {}, {}, "", R"(, "environment": {"CTEST_PARALLEL_LEVEL": "2"})"},
    }),
    [](const auto& instance) { return std::string{instance.param.name}; });

TEST(StartedBy, a_script_that_chooses_the_level_is_unknown) {
  const std::string script = "set(CTEST_SOURCE_DIRECTORY [[@DIR@]])\nset(CTEST_BINARY_DIRECTORY [[@DIR@/build]])\n"
                             "ctest_start(Experimental)\nctest_test(PARALLEL_LEVEL 2)\n";
  const auto result = CtestRun{{{"run.cmake", script}}}.run({"-S", "@DIR@/run.cmake"});
  ASSERT_TRUE(result.ran) << result.output;
  EXPECT_EQ(result.found, "unknown");
}

TEST(StartedBy, a_preset_whose_source_folder_is_not_known_is_unknown) {
  const Row row{"", {}, {}, R"(, "execution": {"jobs": 2})"};
  CtestRun ctest{{{"CMakePresets.json", presets(row)}, {"build/CMakeCache.txt", ""}}};
  const auto result = ctest.run({"--preset", "run-mode"}, {}, "@DIR@");
  ASSERT_TRUE(result.ran) << result.output;
  EXPECT_EQ(result.found, "unknown");
  EXPECT_EQ(result.because, "test preset \"run-mode\", which could not be read");
}

} // namespace
} // namespace gputest::tests
