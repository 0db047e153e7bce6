// SPDX-License-Identifier: BSD-3-Clause
#include "core/runlog/event_details.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gputest::runlog {
namespace {

using namespace literals;
using nlohmann::json;

json parsed(const JsonObject& object) { return json::parse(object.to_string()); }

std::vector<Device> two_devices() { return {{"GPU-1", "H200", 4_GiB, false}, {"SIM-2", "simulated", 2_GiB, true}}; }

ledger::Record record(policy::Stage stage) {
  ledger::Record record;
  record.who = "join";
  record.pid = 17;
  record.claim.stage = stage;
  record.claim.lease_bytes = 300;
  record.claim.overhead_bytes = 50;
  return record;
}

TEST(EventDetails, of_a_process_that_enters_say_its_devices_and_itself) {
  const auto devices = two_devices();
  Entered entered{devices, {1000, 500}, 64_MiB, 1.5, true, false};
  auto details = parsed(enter_details(entered));
  EXPECT_EQ(details.at("program"), os::executable_of(os::own_pid()).value());
  details.erase("program");
  EXPECT_EQ(details, json::parse(R"({
    "devices": [
      {"uuid": "GPU-1", "name": "H200", "bytes": 4294967296, "usable_bytes": 1000, "simulated": false},
      {"uuid": "SIM-2", "name": "simulated", "bytes": 2147483648, "usable_bytes": 500, "simulated": true}],
    "overhead_bytes": 67108864, "waited": 1.5, "under_a_lease": true, "worker": false
  })"));
  entered.usable_bytes = {1000};
  entered.under_a_lease = false;
  entered.worker = true;
  entered.why_started = "for the first case";
  details = parsed(enter_details(entered));
  EXPECT_TRUE(details.at("devices")[0].contains("usable_bytes"));
  EXPECT_FALSE(details.at("devices")[1].contains("usable_bytes")) << "it is not known";
  EXPECT_FALSE(details.at("under_a_lease").get<bool>());
  EXPECT_TRUE(details.at("worker").get<bool>());
  EXPECT_EQ(details.at("started"), "for the first case");
}

TEST(EventDetails, of_a_wait_name_who_stands_in_the_way_and_by_what) {
  ledger::Blocked blocked;
  blocked.blockers = {record(policy::Stage::holding), record(policy::Stage::idle)};
  blocked.excesses = {{record(policy::Stage::entering), 7}, {record(policy::Stage::waiting), 8}};
  EXPECT_EQ(parsed(wait_details("3 GiB", blocked)), json::parse(R"({
    "what": "3 GiB",
    "blockers": [{"who": "join", "pid": 17, "stage": "holding", "lease_bytes": 300, "overhead_bytes": 50},
                 {"who": "join", "pid": 17, "stage": "idle", "lease_bytes": 300, "overhead_bytes": 50}],
    "excesses": [{"who": "join", "pid": 17, "stage": "entering", "lease_bytes": 300, "overhead_bytes": 50,
                  "beyond_bytes": 7, "estimated": false},
                 {"who": "join", "pid": 17, "stage": "waiting", "lease_bytes": 300, "overhead_bytes": 50,
                  "beyond_bytes": 8, "estimated": false}],
    "external": false
  })"));
  blocked.external_bytes = 9;
  const auto details = parsed(wait_details("", blocked));
  EXPECT_TRUE(details.at("external").get<bool>());
  EXPECT_EQ(details.at("external_bytes"), 9);
}

TEST(EventDetails, of_a_lease_say_what_was_asked_and_what_is_given) {
  Request request{3_GiB};
  request.memory_class = MemoryClass::medium;
  request.memory_by = SaidBy::suite;
  auto details = parsed(lease_details(request, 4_GiB, false, two_devices(), 0.25));
  EXPECT_EQ(details.at("request"), to_string(request));
  details.erase("request");
  EXPECT_EQ(details, json::parse(R"({
    "class": "medium", "declared_bytes": 3221225472, "bytes": 4294967296,
    "whole_devices": false, "devices": ["GPU-1"], "waited": 0.25
  })"));
  Request large{MemoryClass::large};
  large.gpus = 2;
  details = parsed(lease_details(large, 0_B, true, two_devices(), 0));
  EXPECT_EQ(details.at("class"), "large");
  EXPECT_FALSE(details.contains("declared_bytes"));
  EXPECT_EQ(details.at("devices"), json::parse(R"(["GPU-1", "SIM-2"])"));
  EXPECT_TRUE(details.at("whole_devices").get<bool>());
}

TEST(EventDetails, of_a_need_say_what_was_taken_of_which_device_and_who_declares_how_much) {
  const auto devices = two_devices();
  auto details = parsed(need_details({3_GiB, devices::Evidence::sampled, devices[1], 2_GiB, SaidBy::suite}));
  EXPECT_EQ(details, json::parse(R"({"bytes": 3221225472, "evidence": "sampled", "device_bytes": 2147483648,
    "simulated": true, "declared_bytes": 2147483648, "declared_by": "suite"})"));
  details = parsed(need_details({3_GiB, devices::Evidence::exact, devices[0], std::nullopt, SaidBy::fixture}));
  EXPECT_FALSE(details.contains("declared_bytes")) << "a whole device";
  EXPECT_FALSE(details.contains("possible_bytes"));
  details = parsed(need_details({1_GiB, devices::Evidence::exact, devices[0], 1_GiB, SaidBy::estimate, 3_GiB}));
  EXPECT_EQ(details.at("possible_bytes"), (3_GiB).count()) << "it asks what is free";
}

TEST(EventDetails, of_a_release_say_what_was_measured_of_each_device) {
  devices::Usage usage;
  usage.evidence = devices::Evidence::exact;
  devices::DeviceUsage of;
  of.device = 1;
  of.peak = 300_B;
  of.with_context = true;
  of.kept_at_begin = 9_B;
  usage.devices = {of};
  EXPECT_EQ(parsed(release_details(1.5, usage, two_devices(), 2)), json::parse(R"({
    "held": 1.5, "evidence": "exact",
    "devices": [
      {"uuid": "GPU-1", "peak_bytes": 0, "with_context": false, "kept_bytes": 0},
      {"uuid": "SIM-2", "peak_bytes": 300, "with_context": true, "kept_bytes": 9}]
  })"));
}

TEST(EventDetails, of_a_release_have_no_figure_of_0_of_what_was_not_seen) {
  devices::Usage usage;
  usage.evidence = devices::Evidence::sampled;
  usage.because = "no CUPTI";
  devices::DeviceUsage of;
  of.device = 1;
  of.peak = 300_B;
  usage.devices = {of};
  auto details = parsed(release_details(0, usage, two_devices(), 2));
  EXPECT_EQ(details.at("evidence"), "sampled");
  EXPECT_EQ(details.at("because"), "no CUPTI");
  ASSERT_EQ(details.at("devices").size(), 1U);
  EXPECT_EQ(details.at("devices")[0].at("uuid"), "SIM-2");
  EXPECT_FALSE(details.at("devices")[0].contains("kept_bytes"));
  details = parsed(release_details(0, usage, two_devices(), 1));
  EXPECT_EQ(details.at("devices").size(), 1U) << "of a device that is not leased, what was used of it";
  usage = {};
  usage.evidence = devices::Evidence::exact;
  details = parsed(release_details(0, usage, two_devices(), 1));
  ASSERT_EQ(details.at("devices").size(), 1U) << "of a device that is not leased, no 0";
  EXPECT_EQ(details.at("devices")[0].at("uuid"), "GPU-1");
  EXPECT_FALSE(details.contains("because"));
}

TEST(EventDetails, of_a_test_that_ran_out_of_memory_name_who_had_more_than_leased) {
  EXPECT_EQ(parsed(out_of_memory_details("text", {{record(policy::Stage::waiting), 7}})), json::parse(R"({
    "text": "text",
    "beyond_claims": [{"who": "join", "pid": 17, "stage": "waiting", "lease_bytes": 300, "overhead_bytes": 50,
                       "beyond_bytes": 7, "estimated": false}]
  })"));
}

} // namespace
} // namespace gputest::runlog
