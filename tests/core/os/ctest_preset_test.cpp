// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/ctest_process.hpp"

#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputest::os {
namespace {

class CtestPreset : public testing::Test {
protected:
  // A file with these test presets.
  void write(const std::string& presets, const std::string& more = "",
             const std::string& name = "CMakePresets.json") const {
    folder_.write(name, R"({"version": 6)" + more + R"(, "testPresets": [)" + presets + "]}", 0600);
  }

  [[nodiscard]] std::optional<TestPreset> read(const std::string& name) const {
    return read_test_preset(folder_.path(), name);
  }

  // The jobs of a preset, `none` if it says none, `unknown` if it cannot be read.
  [[nodiscard]] std::string jobs_of(const std::string& name) const {
    const auto preset = read(name);
    return preset ? preset->jobs.value_or("none") : "unknown";
  }

  tests::PrivateFolder folder_;
};

TEST_F(CtestPreset, says_its_jobs) {
  write(R"({"name": "number", "execution": {"jobs": 8}}, {"name": "text", "execution": {"jobs": "8"}},
           {"name": "empty", "execution": {"jobs": ""}}, {"name": "none", "execution": {"timeout": 3}})");
  EXPECT_EQ(jobs_of("number"), "8");
  EXPECT_EQ(jobs_of("text"), "8");
  EXPECT_EQ(jobs_of("empty"), "");
  EXPECT_EQ(jobs_of("none"), "none");
}

TEST_F(CtestPreset, inherits_from_the_first_parent_that_says_something) {
  write(R"({"name": "a", "hidden": true, "execution": {"stopOnFailure": true}},
           {"name": "b", "hidden": true, "inherits": "c"},
           {"name": "c", "hidden": true, "execution": {"jobs": 3}},
           {"name": "d", "hidden": true, "execution": {"jobs": 4}},
           {"name": "one", "inherits": "c"}, {"name": "many", "inherits": ["a", "b", "d"]},
           {"name": "own", "inherits": ["d"], "execution": {"jobs": 1}}, {"name": "circle", "inherits": "circle"})");
  EXPECT_EQ(jobs_of("one"), "3");
  EXPECT_EQ(jobs_of("many"), "3");
  EXPECT_EQ(jobs_of("own"), "1");
  EXPECT_EQ(jobs_of("circle"), "none");
}

TEST_F(CtestPreset, is_read_from_the_users_presets_and_what_both_include) {
  folder_.make_folder("user");
  write(R"({"name": "mine", "inherits": ["far", "ci"]})", R"(, "include": ["user/more.json"])",
        "CMakeUserPresets.json");
  write("", R"(, "include": ["../deep.json"])", "user/more.json");
  write(R"({"name": "far"})", "", "deep.json");
  write(R"({"name": "ci", "inherits": "shared"})",
        R"(, "include": ["deep.json", ")" + folder_.path() + R"(/shared.json"])");
  write(R"({"name": "shared", "execution": {"jobs": 5}})", R"(, "include": ["CMakePresets.json"])", "shared.json");
  EXPECT_EQ(jobs_of("mine"), "5");
  EXPECT_EQ(jobs_of("ci"), "5");
}

TEST_F(CtestPreset, is_unknown_where_it_its_parent_or_a_file_is_missing_or_broken) {
  EXPECT_EQ(jobs_of("ci"), "unknown");
  const std::string one = R"({"name": "ci", "execution": {"jobs": 1}})";
  write(R"({"name": "ci", "inherits": "missing"})");
  EXPECT_EQ(jobs_of("ci"), "unknown");
  EXPECT_EQ(jobs_of("other"), "unknown");
  write(one);
  EXPECT_EQ(jobs_of("ci"), "1");
  folder_.write("CMakeUserPresets.json", "{ broken", 0600);
  EXPECT_EQ(jobs_of("ci"), "unknown");
  folder_.write("CMakeUserPresets.json", "{}", 0600);
  EXPECT_EQ(jobs_of("ci"), "1");
  for (const char* const include : {"missing.json", "$penv{FOLDER}/presets.json"}) {
    write(one, std::string{R"(, "include": [")"} + include + "\"]");
    EXPECT_EQ(jobs_of("ci"), "unknown") << include;
  }
}

// There are 2^40 ways from `p` to `a40`.
TEST_F(CtestPreset, looks_at_each_of_parents_that_share_parents_once) {
  std::string presets = R"({"name": "p", "inherits": ["a1", "b1"]}, {"name": "a40"}, {"name": "b40"})";
  for (int depth = 1; depth < 40; ++depth) {
    for (const char* const preset : {"a", "b"}) {
      const std::string parent = std::to_string(depth + 1);
      presets += ", {\"name\": \"" + (preset + std::to_string(depth)) + R"(", "inherits": ["a)" + parent + R"(", "b)" +
                 parent + "\"]}";
    }
  }
  write(presets);
  EXPECT_EQ(jobs_of("p"), "none");
}

} // namespace
} // namespace gputest::os
