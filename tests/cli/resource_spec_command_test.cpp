// SPDX-License-Identifier: BSD-3-Clause
#include "tool.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace gputest::cli {

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

} // namespace

TEST(ResourceSpecCommand, writes_a_file_under_the_pid_of_its_parent) {
  Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  const std::string folder = tool.folder().path() + "/new/folder";
  const auto ended = tool.run(writing_to(folder));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const std::string name = "resource-spec-" + std::to_string(::getpid()) + ".json";
  EXPECT_EQ(ended.out, "set(gputest_resource_spec \"" + name +
                           "\")\nset(gputest_devices \"16384 16384 whole\" \"16384 16384 whole\")\n"
                           "set(gputest_context_mib 1024)\n");
  EXPECT_EQ(files_in(folder), std::vector{name});
  std::ifstream file{folder + "/" + name};
  EXPECT_EQ(nlohmann::json::parse(file)["local"][0]["gputest_mib"].size(), 2U);
  // What a test holds comes back, and is not subtracted.
  auto holder = tool.start_holder({"--memory", "4GiB"});
  EXPECT_EQ(tool.run(writing_to(folder)).out, ended.out);
  EXPECT_EQ(holder.finish().exit_code, 0);
}

TEST(ResourceSpecCommand, refuses_an_option_that_has_no_effect) {
  const Tool tool;
  const auto ended = tool.run({"devices", "--json", "--resource-spec", tool.folder().path()});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_NE(ended.err.find("--json"), std::string::npos) << ended.err;
}

TEST(ResourceSpecCommand, does_nothing_where_there_is_nothing_to_schedule) {
  Tool tool;
  const std::string folder = tool.folder().path() + "/spec";
  for (const auto& [name, value] : {std::pair{"GPUTEST_DEVICES", "none"}, std::pair{"GPUTEST_SCHEDULING", "ledger"}}) {
    tool.set(name, value);
    const auto ended = tool.run(writing_to(folder));
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(ended.out, "") << name;
    EXPECT_FALSE(std::filesystem::exists(folder));
    tool.set(name, "");
  }
}

TEST(ResourceSpecCommand, removes_files_of_ctests_that_have_ended_long_ago) {
  Tool tool;
  const auto& folder = tool.folder();
  const std::string ended = "resource-spec-999999999.json"; // no pid is so large
  const std::string just_ended = "resource-spec-999999998.json";
  const std::string running = "resource-spec-1.json";
  for (const auto& name : {ended, just_ended, running, std::string{"mine.json"}}) {
    folder.write(name, "", 0644);
    if (name != just_ended) {
      const auto path = folder.path() + "/" + name;
      std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours{1});
    }
  }
  EXPECT_EQ(tool.run(writing_to(folder.path())).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/" + ended));
  for (const auto& name : {just_ended, running, std::string{"mine.json"}}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/" + name)) << name;
  }
}

TEST(ResourceSpecCommand, fails_where_the_folder_cannot_be_written_to) {
  Tool tool;
  tool.folder().write("file", "", 0644);
  const auto ended = tool.run(writing_to(tool.folder().path() + "/file"));
  EXPECT_EQ(ended.exit_code, 70);
  EXPECT_EQ(ended.out, "");
}

TEST(RunCommand, uses_the_device_where_ctest_has_put_it_unless_its_memory_is_not_there) {
  Tool tool;
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

} // namespace gputest::cli
