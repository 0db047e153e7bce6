// SPDX-License-Identifier: BSD-3-Clause
#include "support/tool.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace gputest::tool {

namespace {

/// The names of the files in a folder.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    names.push_back(file.path().filename().string());
  }
  return names;
}

std::vector<std::string> writing_to(const std::string& folder) { return {"devices", "--resource-spec", folder}; }

void write_by_a_process_that_ends(const tests::Tool& tool, const std::string& folder) {
  const auto ended = tool.start_program({"/bin/sh", "-c", "\"$1\" devices --resource-spec \"$2\"; exit $?", "sh",
                                         tests::Tool::path(), folder})
                         .finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

} // namespace

TEST(ResourceSpecCommand, writes_a_file_for_its_parent) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  const std::string folder = tool.folder().path() + "/new/folder";
  const auto ended = tool.run(writing_to(folder));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  ASSERT_EQ(files_in(folder).size(), 1U);
  const std::string name = files_in(folder).front();
  EXPECT_TRUE(
      std::regex_match(name, std::regex{"resource-spec-[0-9a-f]+-" + std::to_string(::getpid()) + "-[0-9]+\\.json"}))
      << name;
  EXPECT_EQ(ended.out.find("set(gputest_resource_spec \"" + name +
                           "\")\nset(gputest_devices \"16384 16384 whole\" \"16384 16384 whole\")\n"),
            0U)
      << ended.out;
  std::ifstream file{folder + "/" + name};
  EXPECT_EQ(nlohmann::json::parse(file)["local"][0]["gputest_mib"].size(), 2U);
  // What a test holds comes back, and is not subtracted.
  auto holder = tool.start_holder({"--memory", "4GiB"});
  EXPECT_EQ(tool.run(writing_to(folder)).out, ended.out);
  EXPECT_EQ(holder.finish().exit_code, 0);
}

TEST(ResourceSpecCommand, refuses_an_option_that_has_no_effect) {
  const tests::Tool tool;
  const auto ended = tool.run({"devices", "--json", "--resource-spec", tool.folder().path()});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_NE(ended.err.find("--json"), std::string::npos) << ended.err;
}

TEST(ResourceSpecCommand, does_nothing_where_there_is_nothing_to_schedule) {
  for (const auto& [name, value] : {std::pair{"GPUTEST_DEVICES", "none"}, std::pair{"GPUTEST_SCHEDULING", "ledger"}}) {
    tests::Tool tool;
    const std::string folder = tool.folder().path() + "/spec";
    tool.set(name, value);
    const auto ended = tool.run(writing_to(folder));
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.out, "") << name;
    EXPECT_FALSE(std::filesystem::exists(folder));
  }
}

TEST(ResourceSpecCommand, leaves_the_devices_to_a_preset_that_may_name_a_resource_spec) {
  tests::Tool tool;
  const std::string ctest = tool.folder().path() + "/ctest";
  std::filesystem::copy_file("/bin/sh", ctest);
  const std::string presets = tool.folder().path() + "/presets";
  std::filesystem::create_directory(presets);
  std::ofstream{presets + "/CMakePresets.json"}
      << R"({"version": 3, "testPresets": [{"name": "a"}, {"name": "b", "execution": {"resourceSpecFile": "x"}}]})";
  std::ofstream{presets + "/CMakeCache.txt"} << "CMAKE_HOME_DIRECTORY:INTERNAL=" << presets << "\n";
  // A shell passes for the ctest of these arguments.
  const auto written_with = [&](const std::vector<std::string>& arguments) {
    const std::string folder = tool.folder().path() + "/spec";
    std::filesystem::create_directory(folder);
    std::vector<std::string> command{
        "/usr/bin/env",      "-C",  presets, ctest, "-c", R"("$1" devices --resource-spec "$2"; exit $?)", "ctest",
        tests::Tool::path(), folder};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto ended = tool.start_program(command).finish();
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const auto files = files_in(folder).size();
    std::filesystem::remove_all(folder);
    return files;
  };
  EXPECT_EQ(written_with({"--preset", "a"}), 1U);
  EXPECT_EQ(written_with({"--preset", "b"}), 0U);
  EXPECT_EQ(written_with({"--preset", "unknown"}), 0U) << "it may name one";
  tool.set("GPUTEST_SCHEDULING", "ctest");
  EXPECT_EQ(written_with({"--preset", "unknown"}), 1U);
  EXPECT_EQ(written_with({"--preset", "b"}), 0U);
}

TEST(ResourceSpecCommand, removes_files_of_ctests_that_have_ended) {
  tests::Tool tool;
  const std::string folder = tool.folder().path() + "/spec";
  write_by_a_process_that_ends(tool, folder);
  ASSERT_EQ(files_in(folder).size(), 1U);
  const auto of_ended = files_in(folder).front();
  EXPECT_EQ(tool.run(writing_to(folder)).exit_code, 0);
  ASSERT_EQ(files_in(folder).size(), 1U) << "that of the shell, which has ended, is still there";
  const auto own = files_in(folder).front();
  EXPECT_NE(own, of_ended);
  // One of this process stays, which has not ended, whoever writes another.
  write_by_a_process_that_ends(tool, folder);
  EXPECT_EQ(files_in(folder).size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(folder + "/" + own));
}

TEST(ResourceSpecCommand, removes_files_of_a_process_that_had_a_pid_before) {
  const tests::Tool tool;
  const std::string folder = tool.folder().path() + "/spec";
  EXPECT_EQ(tool.run(writing_to(folder)).exit_code, 0);
  const auto own = files_in(folder).front();
  const auto dash = own.rfind('-');
  const auto start_time = std::stoull(own.substr(dash + 1));
  const auto earlier = own.substr(0, dash + 1) + std::to_string(start_time - 1) + ".json";
  std::filesystem::copy_file(folder + "/" + own, folder + "/" + earlier);
  // Names that no gputest has given are nobody's, and these files are young.
  const auto of_pid = own.substr(0, dash);
  const auto of_identity = of_pid.substr(0, of_pid.rfind('-'));
  const auto pid = of_pid.substr(of_pid.rfind('-') + 1);
  const std::vector<std::string> foreign{of_pid + ".json", of_pid + "+1.json", of_identity + "+" + pid + "-1.json"};
  for (const auto& name : foreign) {
    std::filesystem::copy_file(folder + "/" + own, folder + "/" + name);
  }
  write_by_a_process_that_ends(tool, folder);
  for (const auto& name : foreign) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/" + earlier));
  EXPECT_TRUE(std::filesystem::exists(folder + "/" + own));
}

TEST(ResourceSpecCommand, removes_files_of_other_containers_and_machines_when_they_are_old) {
  tests::Tool tool;
  const auto& folder = tool.folder();
  const std::string old = "resource-spec-1-1-1.json"; // no identity is so small
  const std::string old_unknown = "resource-spec-1.json";
  const std::string young = "resource-spec-1-999999999-1.json"; // no pid is so large
  const std::string mine = "mine.json";
  for (const auto& name : {old, old_unknown, young, mine}) {
    folder.write(name, "", 0644);
    if (name != young) {
      const auto path = folder.path() + "/" + name;
      std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours{1});
    }
  }
  EXPECT_EQ(tool.run(writing_to(folder.path())).exit_code, 0);
  for (const auto& name : {old, old_unknown}) {
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/" + name)) << name;
  }
  for (const auto& name : {young, mine}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/" + name)) << name;
  }
}

TEST(ResourceSpecCommand, fails_where_the_folder_cannot_be_written_to) {
  tests::Tool tool;
  tool.folder().write("file", "", 0644);
  const auto ended = tool.run(writing_to(tool.folder().path() + "/file"));
  EXPECT_EQ(ended.exit_code, 70);
  EXPECT_EQ(ended.out, "");
}

TEST(ResourceSpecCommand, keeps_the_file_that_it_could_not_write_anew) {
  const tests::Tool tool;
  const std::string folder = tool.folder().path() + "/spec";
  EXPECT_EQ(tool.run(writing_to(folder)).exit_code, 0);
  ASSERT_EQ(files_in(folder).size(), 1U);
  const std::string file = folder + "/" + files_in(folder).front();
  // The shell becomes the tool, which writes to a file with the number of its process first.
  const auto ended =
      tool.start_program({"/bin/sh", "-c", R"(ln -s /dev/full "$1.$$"; exec "$2" devices --resource-spec "$3")", "sh",
                          file, tests::Tool::path(), folder})
          .finish();
  EXPECT_EQ(ended.exit_code, 70);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("it cannot be written"), std::string::npos) << ended.err;
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(file)));
}

TEST(RunCommand, uses_the_device_where_ctest_has_put_it_unless_its_memory_is_not_there) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB");
  tool.set("CTEST_RESOURCE_GROUP_COUNT", "1");
  tool.set("CTEST_RESOURCE_GROUP_0", "gputest_mib");
  tool.set("CTEST_RESOURCE_GROUP_0_GPUTEST_MIB", "id:sim_2x16384mib_1,slots:8704");
  const std::vector<std::string> show{"run", "--memory", "8GiB", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"};
  EXPECT_EQ(tool.run(show).out, "SIM-2x16384MiB-1\n");
  auto holder = tool.start_holder({"--memory", "8GiB"});
  EXPECT_EQ(tool.run(show).out, "SIM-2x16384MiB-0\n");
  EXPECT_EQ(holder.finish().exit_code, 0);
  tool.set("CTEST_RESOURCE_GROUP_0_GPUTEST_MIB", "id:gpu_of_another_machine,slots:8704");
  EXPECT_EQ(tool.run(show).exit_code, 0);
}

} // namespace gputest::tool
