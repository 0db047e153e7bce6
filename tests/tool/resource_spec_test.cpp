// SPDX-License-Identifier: BSD-3-Clause
#include "tool/resource_spec.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gputest::tool {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)

DeviceReport device(const std::string& uuid, Bytes total) {
  DeviceReport report;
  report.device = {uuid, "", total, false};
  return report;
}

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

TEST(ResourceSpec, has_no_server_of_mps_keep_a_device_from_other_processes) {
  DevicesReport report;
  report.devices = {device("SIM-1", 16_GiB)};
  EXPECT_EQ(resource_facts(report, "").find("GPUTEST_MPS"), std::string::npos);
  report.devices[0].facts.compute_mode = policy::ComputeMode::exclusive_process;
  EXPECT_NE(resource_facts(report, "").find("set(ENV{GPUTEST_MPS} off)"), std::string::npos);
  report.devices[0].visible = false;
  EXPECT_EQ(resource_facts(report, "").find("GPUTEST_MPS"), std::string::npos);
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
  report.devices[1].facts.lost = true;
  report.devices[2].external_bytes = (16_GiB).count() - 1;
  EXPECT_EQ(resource_spec(report), "");
  EXPECT_EQ(resource_facts(report, "").find("gputest_devices)\n"), resource_facts(report, "").find("gputest_devices"));
  report.devices[2].external_bytes = (16_GiB - 1_MiB).count();
  EXPECT_NE(resource_spec(report).find(R"({"id": "gpu_full", "slots": 1})"), std::string::npos);
  report.devices[2].external_bytes = (16_GiB).count() - 1;
  report.devices.push_back(device("GPU-used", 2_GiB));
  EXPECT_EQ(nlohmann::json::parse(resource_spec(report))["local"][0]["gputest_mib"].size(), 1U);
}

} // namespace gputest::tool
