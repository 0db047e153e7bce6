// SPDX-License-Identifier: BSD-3-Clause
#include "tool/devices_report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace gputest::tool {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)

DevicesReport two_devices() {
  DevicesReport report;
  report.origin = "driver 580.159.04";
  report.restriction = "CUDA_VISIBLE_DEVICES='0'";
  DeviceReport busy;
  busy.device = {"GPU-aaaaaaaa-1111", "NVIDIA H200", 140_GiB, false};
  busy.reserved_bytes = (512_MiB).count();
  busy.used_bytes = (20_GiB).count();
  busy.context_bytes = (1_GiB).count();
  busy.leased_bytes = (15_GiB).count();
  busy.processes = 2;
  busy.external_bytes = (4_GiB).count();
  busy.free_bytes = (100_GiB).count();
  busy.facts.sm = 90;
  busy.facts.memory_pools = true;
  busy.facts.managed_memory = true;
  busy.facts.concurrent_managed_access = true;
  busy.facts.cooperative_launch = false;
  busy.facts.peers = {{0, 1}};
  busy.facts.compute_mode = policy::ComputeMode::exclusive_process;
  busy.users = {{{4711, (3_GiB).count(), "sort: Sort.Keys"}, {99, std::nullopt, ""}}};
  DeviceReport hidden;
  hidden.index = 1;
  hidden.device = {"MIG-bbbbbbbb-2222", "NVIDIA H200 MIG 1g.18gb", 16_GiB, false};
  hidden.visible = false;
  hidden.set_aside_bytes = (2_GiB).count();
  hidden.facts.mig = true;
  hidden.facts.lists_processes = false;
  report.devices = {busy, hidden};
  return report;
}

} // namespace

TEST(DevicesReport, is_a_table_for_people) {
  const auto text = to_text(two_devices());
  for (const std::string part :
       {"    0  GPU-aaaaaaaa-1111  NVIDIA H200                       140 GiB  20 GiB  16 GiB by 2     4 GiB        100 "
        "GiB  yes\n",
        "  16 GiB of 18 GiB     0 B     0 B by 0 ",
        "    0  90  yes           yes      yes         no           1      no   -             EXCLUSIVE_PROCESS\n",
        "    1  ?   ?             ?        ?           ?            ?      yes  -             default\n",
        "    0  used by sort: Sort.Keys (pid 4711, 3 GiB)\n",
        "    0  used by an external process (pid 99, unknown bytes)\n",
        "    1  GPUTEST_DEVICE_MEMORY: gputest decides as on a device of 16 GiB\n", "\ndriver 580.159.04\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST(DevicesReport, is_an_object_with_units_in_its_keys_for_machines) {
  const auto expected = nlohmann::ordered_json::parse(R"({
    "version": 1,
    "origin": "driver 580.159.04",
    "why_none": "",
    "left_out": "",
    "restriction": "CUDA_VISIBLE_DEVICES='0'",
    "devices": [
      {"index": 0, "uuid": "GPU-aaaaaaaa-1111", "name": "NVIDIA H200", "simulated": false, "mig_slice": false,
       "visible": true, "why_unusable": "", "total_bytes": 150323855360, "reserved_bytes": 536870912, "used_bytes": 21474836480,
       "ledger_processes": 2, "ledger_context_bytes": 1073741824, "ledger_leased_bytes": 16106127360,
       "external_bytes": 4294967296, "free_for_next_bytes": 107374182400, "limit_bytes": 150323855360,
       "sm": 90, "memory_pools": true, "managed_memory": true, "concurrent_managed_access": true,
       "cooperative_launch": false, "peer_uuids": ["MIG-bbbbbbbb-2222"], "driver_model": "-",
       "compute_mode": "EXCLUSIVE_PROCESS", "shares_host_memory": false, "lists_processes": true,
       "users": [{"pid": 4711, "used_bytes": 3221225472, "who": "sort: Sort.Keys"},
                 {"pid": 99, "used_bytes": null, "who": ""}],
       "notes": ["compute mode EXCLUSIVE_PROCESS: one process at a time can use it"]},
      {"index": 1, "uuid": "MIG-bbbbbbbb-2222", "name": "NVIDIA H200 MIG 1g.18gb", "simulated": false,
       "mig_slice": true, "visible": false, "why_unusable": "", "total_bytes": 19327352832, "reserved_bytes": 0, "used_bytes": 0,
       "ledger_processes": 0, "ledger_context_bytes": 0, "ledger_leased_bytes": 0, "external_bytes": 0,
       "free_for_next_bytes": 0, "limit_bytes": 17179869184, "sm": null, "memory_pools": null,
       "managed_memory": null, "concurrent_managed_access": null, "cooperative_launch": null, "peer_uuids": null,
       "driver_model": "-", "compute_mode": "default", "shares_host_memory": false, "lists_processes": false,
       "users": null,
       "notes": ["the driver does not list the processes that use it. What is in use beyond all claims counts as external, and memory of a killed process as free when nothing is in use, or after a second", "GPUTEST_DEVICE_MEMORY: gputest decides as on a device of 16 GiB"]}
    ]
  })");
  EXPECT_EQ(to_json(two_devices()).dump(2), expected.dump(2));
}

TEST(DevicesReport, says_which_gpus_are_left_out_and_why_a_device_cannot_be_used) {
  auto report = two_devices();
  report.left_out = "GPU 2 has fallen off the bus";
  report.devices[0].facts.compute_mode = policy::ComputeMode::prohibited;
  report.devices[1].facts.compute_mode = policy::ComputeMode::prohibited;
  const auto text = to_text(report);
  EXPECT_NE(text.find("\n\ndriver 580.159.04\nGPU 2 has fallen off the bus\nno GPU for tests: "), std::string::npos)
      << text;
  const auto json = to_json(report);
  EXPECT_EQ(json["left_out"], "GPU 2 has fallen off the bus");
  const auto why = json["devices"][1]["why_unusable"].get<std::string>();
  EXPECT_EQ(why.find("its compute mode is PROHIBITED"), 0U) << why;
  ASSERT_EQ(json["devices"][1]["notes"].size(), 3U) << json["devices"][1]["notes"];
  EXPECT_EQ(json["devices"][1]["notes"][0], "cannot be used: " + why);
  EXPECT_NE(text.find("    1  cannot be used: " + why + "\n    1  the driver does not list"), std::string::npos) << text;
}

TEST(DevicesReport, says_why_there_is_no_gpu) {
  DevicesReport report;
  report.why_none = "there is no driver";
  EXPECT_EQ(to_text(report), "no GPU: there is no driver. Simulated devices, which have memory and run no kernels: "
                             "GPUTEST_DEVICES=simulated:1x16GiB\n");
  EXPECT_EQ(to_json(report)["why_none"], "there is no driver");
  EXPECT_TRUE(to_json(report)["devices"].is_array());
}

TEST(DevicesReport, says_why_tests_have_no_device) {
  using testing::EndsWith;
  auto report = two_devices();
  const std::string hidden = "no GPU for tests: CUDA_VISIBLE_DEVICES='0' hides every GPU that can be used\n";
  const std::string unusable = "no GPU for tests: none of them can be used, for the reasons above";
  report.devices[0].visible = false;
  EXPECT_THAT(to_text(report), EndsWith(hidden));
  report.devices[0].visible = true;
  report.devices[0].facts.lost = true;
  EXPECT_THAT(to_text(report), EndsWith(hidden));
  report.devices[1].facts.compute_mode = policy::ComputeMode::prohibited;
  EXPECT_THAT(to_text(report), EndsWith(unusable + "; and CUDA_VISIBLE_DEVICES='0' hides some\n"));
  report.devices[1].visible = true;
  EXPECT_THAT(to_text(report), EndsWith(unusable + "\n"));
  report.devices.pop_back();
  EXPECT_THAT(to_text(report), EndsWith("no GPU for tests: it cannot be used, for the reason above\n"));
}

} // namespace gputest::tool
