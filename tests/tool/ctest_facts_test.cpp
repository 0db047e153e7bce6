// SPDX-License-Identifier: BSD-3-Clause
#include "tool/ctest_facts.hpp"

#include "support/tool.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputest::tool {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)

DeviceReport device(const std::string& uuid, Bytes total) {
  DeviceReport report;
  report.device = {uuid, "", total, false};
  return report;
}

} // namespace

TEST(CtestFacts, say_what_tests_can_have_of_each_device) {
  DevicesReport report;
  report.devices = {device("GPU-8a3f-AAAA", 140_GiB), device("MIG-77aa-bbbb", 16_GiB)};
  report.devices[0].reserved_bytes = (512_MiB).count() + 1;
  report.devices[0].external_bytes = (4_GiB).count();
  report.devices[0].next_context_bytes = (520_MiB).count() + 1;
  report.devices[0].leased_bytes = (100_GiB).count(); // other tests give it back
  report.devices[1].facts.mig = true;
  for (auto& device : report.devices) {
    device.facts.processes_allowed = 4;
  }
  EXPECT_EQ(ctest_facts(report), R"(set(gputest_devices "142847 138751 whole free" "16384 16384 slice")
set(gputest_largest_mib 142847)
set(gputest_most_processes 4)
set(gputest_context_mib 521)
set(gputest_small_mib 256)
set(gputest_medium_mib 8192)
set(gputest_beside_heap_mib 2)
set(gputest_mps ENVIRONMENT GPUTEST_MPS=off)
)");
}

TEST(CtestFacts, have_the_largest_context_and_the_smallest_device_decide_for_all) {
  DevicesReport report;
  report.devices = {device("SIM-1", 8_GiB), device("SIM-2", 16_GiB), device("SIM-3", 12_GiB)};
  report.devices[0].next_context_bytes = (100_MiB).count();
  report.devices[1].next_context_bytes = (300_MiB).count();
  report.devices[2].next_context_bytes = (200_MiB).count();
  const auto facts = ctest_facts(report);
  EXPECT_NE(facts.find("set(gputest_context_mib 300)\n"), std::string::npos) << facts;
  EXPECT_NE(facts.find("set(gputest_medium_mib 4096)\n"), std::string::npos) << facts;
  EXPECT_NE(facts.find("set(gputest_largest_mib 16384)\n"), std::string::npos) << facts;
}

TEST(CtestFacts, say_of_which_devices_a_test_can_have_all) {
  DevicesReport report;
  report.devices = {device("SIM-1", 10000_MiB), device("SIM-2", 9000_MiB), device("SIM-3", 8999_MiB),
                    device("SIM-4", 10000_MiB), device("SIM-5", 10000_MiB)};
  report.devices[3].external_bytes = (1000_MiB).count();
  report.devices[4].external_bytes = (1001_MiB).count();
  EXPECT_NE(ctest_facts(report).find(R"("10000 10000 whole free" "9000 9000 whole free" "8999 8999 whole" )"
                                     R"("10000 9000 whole free" "10000 8999 whole")"),
            std::string::npos);
}

TEST(CtestFacts, keep_two_medium_tests_apart_although_contexts_take_nothing) {
  DevicesReport report;
  report.devices = {device("SIM-1", 16_GiB)};
  EXPECT_NE(ctest_facts(report).find("set(gputest_medium_mib 8193)"), std::string::npos);
}

TEST(CtestFacts, leave_out_devices_that_tests_cannot_use) {
  DevicesReport report;
  report.devices = {device("GPU-hidden", 16_GiB), device("GPU-lost", 16_GiB), device("GPU-full", 16_GiB)};
  report.devices[0].visible = false;
  report.devices[0].facts.compute_mode = policy::ComputeMode::exclusive_process; // nor does this one forbid MPS
  report.devices[1].facts.lost = true;
  report.devices[2].external_bytes = (16_GiB).count() - 1;
  EXPECT_EQ(ctest_facts(report), "");
  report.devices[2].external_bytes = (16_GiB - 1_MiB).count();
  EXPECT_NE(ctest_facts(report).find("set(gputest_devices \"16384 1 whole\")\n"), std::string::npos);
  EXPECT_NE(ctest_facts(report).find("set(gputest_mps)\n"), std::string::npos);
}

TEST(CtestFacts, are_printed_by_the_tool_whatever_tests_hold) {
  tests::Tool tool;
  tool.set("GPUTEST_DEVICES", "simulated:2x16GiB,context=1GiB");
  const auto ended = tool.run({"devices", "--for-ctest"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out.find("set(gputest_devices \"16384 16384 whole free\" \"16384 16384 whole free\")\n"), 0U)
      << ended.out;
  auto holder = tool.start_holder({"--memory", "4GiB"}); // what a test holds comes back, and is not subtracted
  EXPECT_EQ(tool.run({"devices", "--for-ctest"}).out, ended.out);
  EXPECT_EQ(holder.finish().exit_code, 0);
  tool.set("GPUTEST_DEVICES", "none");
  EXPECT_EQ(tool.run({"devices", "--for-ctest"}).out, "");
}

} // namespace gputest::tool
