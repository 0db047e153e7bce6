// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/simulated_devices.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gputest::policy {
namespace {

using namespace literals;
using namespace std::chrono_literals;

const std::string allowed =
    "; options are memory_pools, managed_memory, concurrent_managed_access, peer_access, cooperative_launch, tcc, "
    "wddm, "
    "mig, each of these with no_ before it, sm_<n>, exclusive_process, prohibited, lost, integrated, no_process_list, "
    "context=<size>, return=<n>ms";

std::string refusal(const std::string& text) {
  return tests::message_of<InvalidSetting>([&] { (void)parse_simulated_devices(text); });
}

TEST(SimulatedDevices, are_cards_of_a_data_centre_unless_the_setting_says_otherwise) {
  const auto devices = parse_simulated_devices("2x16GiB");
  EXPECT_EQ(devices.count, 2);
  EXPECT_EQ(devices.size, 16_GiB);
  EXPECT_EQ(devices.context, 512_MiB);
  EXPECT_EQ(devices.return_after, 0ms);
  EXPECT_EQ(devices.facts.sm, 90U);
  EXPECT_EQ(devices.facts.memory_pools, true);
  EXPECT_EQ(devices.facts.managed_memory, true);
  EXPECT_EQ(devices.facts.concurrent_managed_access, true);
  EXPECT_EQ(devices.facts.cooperative_launch, true);
  EXPECT_EQ(devices.facts.peers, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(devices.facts.driver_model, DriverModel::none);
  EXPECT_EQ(devices.facts.compute_mode, ComputeMode::usual);
  EXPECT_FALSE(devices.facts.mig || devices.facts.lost || devices.facts.shares_host_memory);
  EXPECT_TRUE(devices.facts.lists_processes);
}

TEST(SimulatedDevices, have_what_the_options_say) {
  struct Case {
    std::string option;
    std::function<bool(const SimulatedDevices&)> holds;
  };
  const std::vector<Case> cases{
      {"no_memory_pools", [](const auto& d) { return d.facts.memory_pools == false; }},
      {"no_managed_memory", [](const auto& d) { return d.facts.managed_memory == false; }},
      {"no_concurrent_managed_access", [](const auto& d) { return d.facts.concurrent_managed_access == false; }},
      {"no_cooperative_launch", [](const auto& d) { return d.facts.cooperative_launch == false; }},
      {"no_peer_access", [](const auto& d) { return d.facts.peers->empty(); }},
      {"tcc", [](const auto& d) { return d.facts.driver_model == DriverModel::tcc; }},
      {"wddm", [](const auto& d) { return d.facts.driver_model == DriverModel::wddm; }},
      {"mig", [](const auto& d) { return d.facts.mig; }},
      {"sm_75", [](const auto& d) { return d.facts.sm == 75U; }},
      {"exclusive_process", [](const auto& d) { return d.facts.compute_mode == ComputeMode::exclusive_process; }},
      {"prohibited", [](const auto& d) { return d.facts.compute_mode == ComputeMode::prohibited; }},
      {"lost", [](const auto& d) { return d.facts.lost; }},
      {"integrated", [](const auto& d) { return d.facts.shares_host_memory; }},
      {"no_process_list", [](const auto& d) { return !d.facts.lists_processes; }},
      {"return=110ms", [](const auto& d) { return d.return_after == 110ms; }},
  };
  const auto usual = parse_simulated_devices("2x16GiB");
  std::set<std::string> kinds{usual.kind};
  EXPECT_EQ(usual.kind, "");
  EXPECT_EQ(parse_simulated_devices("2x16GiB,context=0").kind, "");
  for (const auto& c : cases) {
    EXPECT_FALSE(c.holds(usual)) << c.option;
    const auto devices = parse_simulated_devices("2x16GiB," + c.option);
    EXPECT_TRUE(c.holds(devices)) << c.option;
    EXPECT_TRUE(kinds.insert(devices.kind).second) << c.option << " makes no other device";
    EXPECT_LE(devices.kind.size(), 8U);
    EXPECT_EQ(devices.kind.find_first_not_of("0123456789abcdef"), std::string::npos) << devices.kind;
  }
}

TEST(SimulatedDevices, take_their_options_in_any_order) {
  const auto a = parse_simulated_devices("1x16GiB,no_memory_pools,wddm,sm_75,context=0,return=110ms,exclusive_process");
  const auto b = parse_simulated_devices("1x16GiB,exclusive_process,context=0,sm_75,return=110ms,wddm,no_memory_pools");
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_NE(a.kind, "");
  EXPECT_EQ(a.context, 0_B);
  EXPECT_EQ(b.facts.sm, 75U);
  EXPECT_EQ(b.return_after, 110ms);
}

TEST(SimulatedDevices, refuse_what_is_no_option_with_those_that_there_are) {
  for (const char* option : {"pools", "no_sm_75", "no_exclusive_process", "no_lost", "sm", "return=110", "return=ms",
                             "return", "ctx=1GiB", "", " tcc", "TCC"}) {
    EXPECT_EQ(refusal("1x16GiB," + std::string{option}),
              "the option '" + std::string{option} + "' is unknown" + allowed);
  }
  EXPECT_EQ(refusal("1x16GiB,sm_8"), "the number in sm_<n> '8' is not a whole number from 10 to 999");
  EXPECT_EQ(refusal("1x16GiB,return=60001ms"),
            "the time in return=<n>ms '60001' is not a whole number from 0 to 60000");
  EXPECT_EQ(refusal("1x16GiB,tcc,").substr(0, 13), "the option ''");
}

} // namespace
} // namespace gputest::policy
