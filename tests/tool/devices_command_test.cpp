// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/ledger.hpp"
#include "support/tool.hpp"
#include "tool/exit_codes.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace gputest::tool {

namespace {

constexpr std::uint64_t gib = 1ULL << 30U;

nlohmann::json devices_of(const tests::Tool& tool) { return tool.report_of("devices"); }

} // namespace

TEST(DevicesCommand, shows_every_device_with_what_is_free_of_it) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  const auto report = devices_of(tool);
  EXPECT_EQ(report["version"], 1);
  ASSERT_EQ(report["devices"].size(), 2U);
  EXPECT_NE(report["devices"][0]["uuid"], report["devices"][1]["uuid"]);
  for (const auto& device : report["devices"]) {
    EXPECT_EQ(device["total_bytes"], 16 * gib);
    EXPECT_EQ(device["free_for_next_bytes"], 15 * gib);
    EXPECT_EQ(device["ledger_processes"], 0);
    EXPECT_EQ(device["simulated"], true);
    EXPECT_EQ(device["visible"], true);
  }
}

TEST(DevicesCommand, counts_what_a_running_command_holds) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:1x16GiB,context=1GiB");
  auto holder = tool.start_holder({"--memory", "4GiB"});
  const auto device = devices_of(tool)["devices"][0];
  EXPECT_EQ(device["ledger_processes"], 1);
  EXPECT_EQ(device["ledger_context_bytes"], 1 * gib);
  EXPECT_EQ(device["ledger_leased_bytes"], 4 * gib);
  EXPECT_EQ(device["external_bytes"], 0);
  EXPECT_EQ(device["free_for_next_bytes"], 10 * gib);
  // What is shown as free is granted without a wait, and one byte more is not.
  EXPECT_EQ(tool.run({"run", "--memory", "10GiB", "--wait-limit", "0s", "--", "true"}).exit_code, 0);
  EXPECT_EQ(
      tool.run({"run", "--memory", std::to_string(10 * gib + 1) + "B", "--wait-limit", "0s", "--", "true"}).exit_code,
      to_int(ExitCode::wait_limit));
  EXPECT_EQ(holder.finish().exit_code, 0);
  EXPECT_EQ(devices_of(tool)["devices"][0]["ledger_processes"], 0);
}

TEST(DevicesCommand, counts_with_the_context_that_processes_have_shown) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  EXPECT_EQ(tool.run({"run", "--", "true"}).exit_code, 0); // makes the ledger
  {
    ledger::Ledger ledger{tool.ledger(), nullptr};
    ledger.devices().remember(0, ledger.devices().bit_of(devices_of(tool)["devices"][1]["uuid"]), 3 * gib);
  }
  const auto devices = devices_of(tool)["devices"];
  EXPECT_EQ(devices[0]["free_for_next_bytes"], 15 * gib);
  EXPECT_EQ(devices[1]["free_for_next_bytes"], 13 * gib);
}

TEST(DevicesCommand, says_why_there_is_none_and_fails_only_where_one_is_required) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "none");
  const auto ended = tool.run({"devices"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out.find("no GPU: "), 0U) << ended.out;
  EXPECT_TRUE(devices_of(tool)["devices"].empty());
  EXPECT_NE(devices_of(tool)["why_none"], "");
  EXPECT_FALSE(std::filesystem::exists(tool.ledger())) << "to look must not make a ledger";
  tool.set("GPUTEST_REQUIRE_GPU", "1");
  EXPECT_EQ(tool.run({"devices"}).exit_code, to_int(ExitCode::no_gpu));
}

TEST(DevicesCommand, shows_what_devices_can_do_their_users_and_what_is_unusual) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB,no_memory_pools,tcc,sm_75,no_process_list");
  tool.set("GPUTEST_DEVICE_MEMORY", "8GiB");
  const auto device = devices_of(tool)["devices"][0];
  EXPECT_EQ(device["sm"], 75);
  EXPECT_EQ(device["memory_pools"], false);
  EXPECT_EQ(device["managed_memory"], true);
  EXPECT_EQ(device["driver_model"], "TCC");
  EXPECT_EQ(device["peer_uuids"].size(), 1U);
  EXPECT_EQ(device["total_bytes"], 16 * gib);
  EXPECT_EQ(device["limit_bytes"], 8 * gib);
  EXPECT_EQ(device["free_for_next_bytes"], 8 * gib - gib / 2);
  EXPECT_TRUE(device["users"].is_null());
  EXPECT_EQ(device["notes"].size(), 2U);
  tool.set("GPUTEST_DEVICES", "simulated:1x16GiB,prohibited");
  tool.set("GPUTEST_REQUIRE_GPU", "1");
  const auto ended = tool.run({"devices"});
  EXPECT_EQ(ended.exit_code, to_int(ExitCode::no_gpu));
  EXPECT_NE(ended.out.find("    0  cannot be used: its compute mode is PROHIBITED"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("no GPU for tests: it cannot be used, for the reason above\n"), std::string::npos)
      << ended.out;
}

TEST(DevicesCommand, shows_what_the_job_of_a_batch_system_hides) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB");
  tool.set("SLURM_JOB_ID", "7");
  tool.set("SLURM_JOB_GPUS", "1");
  const auto report = devices_of(tool);
  EXPECT_EQ(report["devices"][0]["visible"], false);
  EXPECT_EQ(report["devices"][1]["visible"], true);
  EXPECT_EQ(report["restriction"], "SLURM_JOB_GPUS='1'");
}

TEST(DevicesCommand, names_the_lease_of_a_process_or_of_its_parent_and_no_other) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "all");
  tool.set("LD_LIBRARY_PATH", GPUTEST_FAKE_DRIVER);
  tool.set("FAKE_NVML", "gpus=1");
  const auto start = [&](const std::string& name, const std::string& before = "") {
    return tool.start({"run", "--memory", "1GiB", "--name", name, "--", "sh", "-c",
                       before + "sh -c 'echo child $$; cat >/dev/null'; exit 0"});
  };
  auto first = start("first", "unset GPUTEST_LEASE_OF; "); // only its parent tells
  first.wait_for_out("child ");
  const std::string child_of_first = first.read_line();
  auto second = start("second");
  second.wait_for_out("child ");
  const std::string child_of_second = second.read_line();
  tool.set("FAKE_NVML", "gpus=1 used=3145728 compute=" + child_of_second + ":1048576," + std::to_string(first.pid()) +
                            ":-," + child_of_first + ":2097152");
  const auto users = devices_of(tool)["devices"][0]["users"];
  ASSERT_EQ(users.size(), 3U) << users;
  for (const auto& user : users) {
    const bool of_second = user["pid"] == std::stoi(child_of_second);
    EXPECT_EQ(user["who"], of_second ? "second" : "first") << user;
    EXPECT_EQ(user["used_bytes"].is_null(), user["pid"] == first.pid()) << user;
  }
  EXPECT_EQ(first.finish().exit_code, 0);
  EXPECT_EQ(second.finish().exit_code, 0);
}

} // namespace gputest::tool
