// SPDX-License-Identifier: BSD-3-Clause
#include "tool/resource_spec.hpp"

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

using namespace gputest::literals; // NOLINT(google-build-using-namespace)

DeviceReport device(const std::string& uuid, Bytes total) {
  DeviceReport report;
  report.device = {uuid, "", total, false};
  return report;
}

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

TEST(ResourceSpec, gives_each_device_a_slot_for_each_mebibyte_that_tests_can_have) {
  DevicesReport report;
  report.devices = {device("GPU-8a3f-AAAA", 140_GiB), device("MIG-77aa-bbbb", 16_GiB)};
  report.devices[0].reserved_bytes = (512_MiB).count() + 1;
  report.devices[0].external_bytes = (4_GiB).count();
  report.devices[0].next_context_bytes = (520_MiB).count() + 1;
  report.devices[0].leased_bytes = (100_GiB).count(); // other tests give it back
  report.devices[1].facts.mig = true;
  EXPECT_EQ(nlohmann::json::parse(resource_spec(report)), nlohmann::json::parse(R"({
    "version": {"major": 1, "minor": 0},
    "local": [{"gputest_mib": [{"id": "gpu_8a3f_aaaa", "slots": 138751}, {"id": "mig_77aa_bbbb", "slots": 16384}]}]
  })"));
  EXPECT_EQ(resource_facts(report, "resource-spec-1.json"), R"(set(gputest_resource_spec "resource-spec-1.json")
set(gputest_devices "142847 138751 whole" "16384 16384 slice")
set(gputest_largest_mib 142847)
set(gputest_context_mib 521)
set(gputest_small_mib 256)
set(gputest_medium_mib 8192)
set(gputest_beside_heap_mib 2)
if(NOT DEFINED ENV{GPUTEST_MPS})
  set(ENV{GPUTEST_MPS} off)
endif()
)");
}

TEST(ResourceSpec, has_the_largest_context_and_the_smallest_device_decide_for_all) {
  DevicesReport report;
  report.devices = {device("SIM-1", 8_GiB), device("SIM-2", 16_GiB), device("SIM-3", 12_GiB)};
  report.devices[0].next_context_bytes = (100_MiB).count();
  report.devices[1].next_context_bytes = (300_MiB).count();
  report.devices[2].next_context_bytes = (200_MiB).count();
  const auto facts = resource_facts(report, "");
  EXPECT_NE(facts.find("set(gputest_context_mib 300)\n"), std::string::npos) << facts;
  EXPECT_NE(facts.find("set(gputest_medium_mib 4096)\n"), std::string::npos) << facts;
  EXPECT_NE(facts.find("set(gputest_largest_mib 16384)\n"), std::string::npos) << facts;
}

TEST(ResourceSpec, keeps_two_medium_tests_apart_although_contexts_take_nothing) {
  DevicesReport report;
  report.devices = {device("SIM-1", 16_GiB)};
  EXPECT_NE(resource_facts(report, "").find("set(gputest_medium_mib 8193)"), std::string::npos);
}

TEST(ResourceSpec, leaves_out_devices_that_tests_cannot_use) {
  DevicesReport report;
  report.devices = {device("GPU-hidden", 16_GiB), device("GPU-lost", 16_GiB), device("GPU-full", 16_GiB)};
  report.devices[0].visible = false;
  report.devices[0].facts.compute_mode = policy::ComputeMode::exclusive_process; // nor does this one forbid MPS
  report.devices[1].facts.lost = true;
  report.devices[2].external_bytes = (16_GiB).count() - 1;
  EXPECT_EQ(resource_spec(report), "");
  EXPECT_EQ(resource_facts(report, "").find("GPUTEST_MPS"), std::string::npos);
  EXPECT_EQ(resource_facts(report, "").find("gputest_devices)\n"), resource_facts(report, "").find("gputest_devices"));
  report.devices[2].external_bytes = (16_GiB - 1_MiB).count();
  EXPECT_NE(resource_spec(report).find(R"({"id": "gpu_full", "slots": 1})"), std::string::npos);
  report.devices[2].external_bytes = (16_GiB).count() - 1;
  report.devices.push_back(device("GPU-used", 2_GiB));
  EXPECT_EQ(nlohmann::json::parse(resource_spec(report))["local"][0]["gputest_mib"].size(), 1U);
}

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

TEST(ResourceSpecCommand, removes_old_files_of_others) {
  tests::Tool tool;
  const auto& folder = tool.folder();
  for (const std::string name : {"resource-spec-1-1-1.json", "resource-spec-young.json", "mine.json"}) {
    folder.write(name, "", 0644);
    if (name != "resource-spec-young.json") {
      const auto path = folder.path() + "/" + name;
      std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours{1});
    }
  }
  EXPECT_EQ(tool.run(writing_to(folder.path())).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/resource-spec-1-1-1.json"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/resource-spec-young.json"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/mine.json"));
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
