// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/ctest_preset.hpp"

#include "support/private_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

namespace gputest::os {

static std::ostream& operator<<(std::ostream& out, const TestPreset& preset) {
  return out << "jobs " << preset.jobs.value_or("(none)") << ", level " << preset.parallel_level.value_or("(none)");
}

namespace {

using Jobs = std::optional<std::string>;

class CtestPreset : public testing::Test {
protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path{folder_.path()} / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }

  // CMakePresets.json with these test presets.
  void write_presets(const std::string& presets, const std::string& more = "") const {
    write("CMakePresets.json", R"({"version": 6)" + more + R"(, "testPresets": [)" + presets + "]}");
  }

  [[nodiscard]] std::optional<TestPreset> read(const std::string& name) const {
    return read_test_preset(folder_.path(), name);
  }

  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

private:
  tests::PrivateFolder folder_;
};

TestPreset with_jobs(const Jobs& jobs) { return {jobs, std::nullopt}; }

TestPreset with_level(const std::string& level) { return {std::nullopt, level}; }

TEST_F(CtestPreset, reads_jobs_as_a_number_and_as_a_text) {
  write_presets(R"({"name": "number", "execution": {"jobs": 8}}, {"name": "text", "execution": {"jobs": "8"}},
                   {"name": "empty", "execution": {"jobs": ""}}, {"name": "none", "execution": {"timeout": 3}},
                   {"name": "bare"})");
  EXPECT_EQ(read("number"), with_jobs("8"));
  EXPECT_EQ(read("text"), with_jobs("8"));
  EXPECT_EQ(read("empty"), with_jobs(""));
  EXPECT_EQ(read("none"), TestPreset{});
  EXPECT_EQ(read("bare"), TestPreset{});
}

TEST_F(CtestPreset, inherits_from_the_first_parent_that_says_something) {
  write_presets(R"({"name": "a", "hidden": true, "execution": {"stopOnFailure": true}},
                   {"name": "b", "hidden": true, "inherits": "c"},
                   {"name": "c", "hidden": true, "execution": {"jobs": 3}},
                   {"name": "d", "hidden": true, "execution": {"jobs": 4}},
                   {"name": "one", "inherits": "c"}, {"name": "many", "inherits": ["a", "b", "d"]},
                   {"name": "own", "inherits": ["d"], "execution": {"jobs": 1}})");
  EXPECT_EQ(read("one"), with_jobs("3"));
  EXPECT_EQ(read("many"), with_jobs("3"));
  EXPECT_EQ(read("own"), with_jobs("1"));
}

TEST_F(CtestPreset, reads_the_users_presets_and_what_both_include) {
  write("CMakeUserPresets.json", R"({"version": 6, "include": ["user/more.json"], "testPresets": [
    {"name": "mine", "inherits": ["far", "ci"]}]})");
  write("user/more.json", R"({"version": 6, "include": ["../deep.json"]})");
  write("deep.json", R"({"version": 6, "testPresets": [{"name": "far", "execution": {"timeout": 1}}]})");
  write_presets(R"({"name": "ci", "inherits": "shared"})", R"(, "include": ["shared.json", "deep.json"])");
  write("shared.json", R"({"version": 6, "testPresets": [{"name": "shared", "execution": {"jobs": 5}}]})");
  EXPECT_EQ(read("mine"), with_jobs("5"));
  EXPECT_EQ(read("ci"), with_jobs("5"));
}

TEST_F(CtestPreset, reads_the_users_presets_alone_and_included_files_by_their_whole_paths) {
  write("far/shared.json", R"({"version": 6, "testPresets": [{"name": "shared", "execution": {"jobs": 5}}]})");
  write("near.json", R"({"version": 6, "include": [], "testPresets": [{"name": "near", "inherits": []}]})");
  write("CMakeUserPresets.json", R"({"version": 6, "include": ["near.json", ")" + folder() +
                                     R"(/far/shared.json"], "testPresets": [{"name": "mine", "inherits": "shared"}]})");
  EXPECT_EQ(read("mine"), with_jobs("5"));
  EXPECT_EQ(read("near"), TestPreset{});
}

TEST_F(CtestPreset, reads_a_single_file) {
  write_presets(R"({"name": "ci", "execution": {"jobs": 1}})");
  write("more.json", R"({"version": 6, "testPresets": [{"name": "ci", "execution": {"jobs": 2}}]})");
  EXPECT_EQ(read_test_preset(folder() + "/more.json", "ci"), with_jobs("2"));
}

TEST_F(CtestPreset, reads_the_level_that_it_sets_for_ctest) {
  write_presets(R"({"name": "own", "environment": {"CTEST_PARALLEL_LEVEL": "8", "OTHER": "1"}},
                   {"name": "inherited", "inherits": "own", "environment": {"OTHER": "2"}},
                   {"name": "null", "inherits": "own", "environment": {"CTEST_PARALLEL_LEVEL": null}},
                   {"name": "configure", "configurePreset": "dev"},
                   {"name": "parents_configure", "inherits": "configure"},
                   {"name": "over_configure", "configurePreset": "dev", "inherits": "own"},
                   {"name": "apart", "configurePreset": "dev", "inheritConfigureEnvironment": false},
                   {"name": "apart_too", "inherits": "apart"},
                   {"name": "null_over_configure", "configurePreset": "dev",
                    "environment": {"CTEST_PARALLEL_LEVEL": null}})",
                R"(, "configurePresets": [{"name": "dev", "inherits": "base"},
                   {"name": "base", "hidden": true, "environment": {"CTEST_PARALLEL_LEVEL": "4"}}])");
  EXPECT_EQ(read("own"), with_level("8"));
  EXPECT_EQ(read("inherited"), with_level("8"));
  EXPECT_EQ(read("null"), TestPreset{});
  EXPECT_EQ(read("configure"), with_level("4"));
  EXPECT_EQ(read("parents_configure"), with_level("4"));
  EXPECT_EQ(read("over_configure"), with_level("8"));
  EXPECT_EQ(read("apart"), TestPreset{});
  EXPECT_EQ(read("apart_too"), TestPreset{});
  EXPECT_EQ(read("null_over_configure"), TestPreset{});
}

TEST_F(CtestPreset, knows_whether_it_names_a_resource_spec_file) {
  write_presets(
      R"({"name": "own", "execution": {"resourceSpecFile": "gpus.json"}}, {"name": "below", "inherits": "own"},
                   {"name": "none", "execution": {"jobs": 8}})");
  EXPECT_TRUE(read("own")->has_resource_spec);
  EXPECT_TRUE(read("below")->has_resource_spec);
  EXPECT_FALSE(read("none")->has_resource_spec);
}

TEST_F(CtestPreset, is_not_known_without_its_file_its_name_or_its_parent) {
  EXPECT_EQ(read("ci"), std::nullopt);
  EXPECT_EQ(read_test_preset(folder() + "/missing.json", "ci"), std::nullopt);
  EXPECT_EQ(read_test_preset(folder() + "/missing", "ci"), std::nullopt);
  write_presets(R"({"name": "ci", "inherits": "missing"}, {"name": "dev", "configurePreset": "missing"})");
  EXPECT_EQ(read("other"), std::nullopt);
  EXPECT_EQ(read("ci"), std::nullopt);
  EXPECT_EQ(read("dev"), std::nullopt);
}

TEST_F(CtestPreset, is_not_known_where_any_file_is_broken_or_missing) {
  const std::string presets = R"({"name": "ci", "execution": {"jobs": 1}})";
  write_presets(presets);
  EXPECT_EQ(read("ci"), with_jobs("1"));
  write("CMakeUserPresets.json", "{ broken");
  EXPECT_EQ(read("ci"), std::nullopt);
  write("CMakeUserPresets.json", "");
  EXPECT_EQ(read("ci"), std::nullopt);
  write("CMakeUserPresets.json", "{}");
  EXPECT_EQ(read("ci"), with_jobs("1"));
  write_presets(presets, R"(, "include": ["missing.json"])");
  EXPECT_EQ(read("ci"), std::nullopt);
}

// ctest itself refuses them.
TEST_F(CtestPreset, is_not_known_where_two_have_its_name) {
  const std::string one = R"({"name": "ci", "execution": {"jobs": 1}})";
  write_presets(one + R"(, {"name": "ci", "execution": {"jobs": 8}}, {"name": "other", "execution": {"jobs": 2}})");
  EXPECT_EQ(read("ci"), std::nullopt);
  EXPECT_EQ(read("other"), std::nullopt);
  write_presets(one, R"(, "configurePresets": [{"name": "dev"}, {"name": "dev"}])");
  EXPECT_EQ(read("ci"), std::nullopt);
  write_presets(one);
  EXPECT_EQ(read("ci"), with_jobs("1"));
  write("CMakeUserPresets.json", R"({"version": 6, "testPresets": [{"name": "ci", "execution": {"jobs": 8}}]})");
  EXPECT_EQ(read("ci"), std::nullopt);
}

TEST_F(CtestPreset, is_not_known_where_a_macro_decides) {
  write_presets(R"({"name": "ci", "environment": {"CTEST_PARALLEL_LEVEL": "$penv{JOBS}"}})");
  EXPECT_EQ(read("ci"), std::nullopt);
  write_presets(R"({"name": "ci", "configurePreset": "dev"})",
                R"(, "configurePresets": [{"name": "dev", "environment": {"CTEST_PARALLEL_LEVEL": "$env{JOBS}"}}])");
  EXPECT_EQ(read("ci"), std::nullopt);
  write("$penv{FOLDER}/presets.json", "{}"); // not the one that is meant
  write_presets(R"({"name": "ci"})", R"(, "include": ["$penv{FOLDER}/presets.json"])");
  EXPECT_EQ(read("ci"), std::nullopt);
}

// There are 2^40 ways from `p` to `a40`.
TEST_F(CtestPreset, looks_at_each_of_parents_that_share_parents_once) {
  std::string presets = R"({"name": "p", "inherits": ["a1", "b1"]}, {"name": "a40"}, {"name": "b40"})";
  for (int depth = 1; depth < 40; ++depth) {
    for (const char* preset : {"a", "b"}) {
      const std::string parent = std::to_string(depth + 1);
      presets += ", {\"name\": \"" + (preset + std::to_string(depth)) + R"(", "inherits": ["a)" + parent + R"(", "b)" +
                 parent + "\"]}";
    }
  }
  write_presets(presets);
  EXPECT_EQ(read("p"), TestPreset{});
}

TEST_F(CtestPreset, ends_where_presets_or_files_go_in_a_circle) {
  write_presets(R"({"name": "a", "inherits": "b"}, {"name": "b", "inherits": "a"},
                   {"name": "c", "execution": {"jobs": 2}})",
                R"(, "include": ["CMakePresets.json"])");
  EXPECT_EQ(read("a"), std::nullopt);
  EXPECT_EQ(read("c"), with_jobs("2"));
}

} // namespace
} // namespace gputest::os
