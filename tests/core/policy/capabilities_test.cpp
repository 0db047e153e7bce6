// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/capabilities.hpp"

#include "core/policy/simulated_devices.hpp"
#include "support/message_of.hpp"

#include <gputest/capability.hpp>
#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gputest {

namespace {

using namespace literals;
using capabilities::free_memory;
using capabilities::memory_pools;
using capabilities::mig;
using capabilities::sm;
using capabilities::total_memory;

TEST(MemoryPlaces, are_told_by_what_the_driver_and_the_host_say) {
  using policy::MemoryPlace;
  constexpr std::uint64_t unknown = 0;
  struct Case {
    const char* what;
    std::uint64_t total;
    std::uint64_t reserved;
    std::uint64_t host;
    std::optional<std::uint64_t> node;
    MemoryPlace expected;
  };
  const std::vector<Case> cases{
      {"a GPU of its own", 800, 5, 500, {}, MemoryPlace::device},
      {"an integrated one of which the driver says nothing", unknown, 0, 500, {}, MemoryPlace::host},
      {"one that has the host's total", 500, 0, 500, {}, MemoryPlace::host},
      {"one that has a little more than the host's", 530, 0, 500, {}, MemoryPlace::host},
      {"one that has a little less", 470, 0, 500, {}, MemoryPlace::host},
      {"a GPU as large as the host, of which the driver reserves some", 501, 5, 500, {}, MemoryPlace::device},
      {"a larger one under an old driver, which says nothing of that", 540, 0, 500, {}, MemoryPlace::device},
      {"one on a node of its own", 960, 6, 4800, 950, MemoryPlace::numa_node},
      {"a node that has other memory too", 960, 6, 4800, 4800, MemoryPlace::device},
      {"a node without memory", 960, 6, 4800, 0, MemoryPlace::device},
      {"no host is known", 960, 6, unknown, {}, MemoryPlace::device},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(policy::memory_place(c.total, c.reserved, c.host, c.node), c.expected) << c.what;
  }
}

TEST(Capabilities, are_read_and_written) {
  struct Case {
    std::string text;
    Capabilities expected;
    std::string written;
  };
  const std::vector<Case> cases{
      {"", {}, ""},
      {"memory_pools", {memory_pools}, "memory_pools"},
      {"sm_80 memory_pools", {memory_pools, sm(80)}, "memory_pools, sm_80"},
      {"sm_80,memory_pools;mig", {memory_pools, sm(80), mig}, "memory_pools, mig, sm_80"},
      {" sm_80  ", {sm(80)}, "sm_80"},
      {"total_memory=40GiB free_memory=1.5GiB",
       {total_memory(40_GiB), free_memory(1536_MiB)},
       "total_memory of 40 GiB, free_memory of 1.5 GiB"},
      {"sm_80 sm_75", {sm(80)}, "sm_80"},
      {"managed_memory concurrent_managed_access peer_access cooperative_launch tcc wddm",
       {capabilities::managed_memory, capabilities::concurrent_managed_access, capabilities::peer_access,
        capabilities::cooperative_launch, capabilities::tcc, capabilities::wddm},
       "managed_memory, concurrent_managed_access, peer_access, cooperative_launch, tcc, wddm"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(parse_capabilities(c.text), c.expected) << c.text;
    EXPECT_EQ(to_string(parse_capabilities(c.text)), c.written);
    EXPECT_EQ(parse_capabilities(c.text).empty(), c.written.empty());
  }
}

TEST(Capabilities, that_are_unknown_are_refused_with_all_that_there_are) {
  for (const std::string word :
       {"pools", "no_tcc", "sm", "sm_", "sm_9", "sm_1000", "sm_90a", "total_memory", "sm=80"}) {
    EXPECT_EQ(tests::message_of<InvalidSetting>([&] { (void)parse_capabilities("tcc " + word, "GPUTEST_REQUIRES"); }),
              "GPUTEST_REQUIRES='tcc " + word + "' cannot be used: '" + word +
                  "' is unknown; it is any of memory_pools, managed_memory, concurrent_managed_access, peer_access, "
                  "cooperative_launch, tcc, wddm, mig, sm_<n> such as sm_80, total_memory=<size>, free_memory=<size>");
  }
  EXPECT_EQ(tests::message_of<InvalidSetting>([] { (void)parse_capabilities("free_memory=3", "GPUTEST_REQUIRES"); }),
            "GPUTEST_REQUIRES: free_memory '3' has no unit; write a number and a unit, such as 256MiB, 3GiB or 1.5GiB "
            "(units: B, KiB, MiB, GiB, TiB)");
}

TEST(Capabilities, together_are_all_of_both_with_the_larger_amounts) {
  const Capabilities a{memory_pools, sm(70), total_memory(8_GiB)};
  const Capabilities b{mig, sm(80), total_memory(4_GiB)};
  EXPECT_EQ(a | b, (Capabilities{memory_pools, mig, sm(80), total_memory(8_GiB)}));
  EXPECT_EQ(a | Capabilities{}, a);
  EXPECT_NE(a, b);
}

} // namespace

} // namespace gputest

namespace gputest::policy {

namespace {

using namespace literals;

Candidate h200() {
  Candidate candidate;
  candidate.device = {"GPU-1", "NVIDIA H200", 140_GiB, false};
  candidate.free = 100_GiB;
  candidate.facts = usual_simulated_facts();
  return candidate;
}

TEST(Capabilities, lacking_are_named_with_what_the_device_has_instead) {
  struct Case {
    std::string required;
    std::function<void(Candidate&)> change;
    std::string expected;
  };
  const auto nothing = [](Candidate&) {};
  const std::vector<Case> cases{
      {"", nothing, ""},
      {"memory_pools managed_memory concurrent_managed_access cooperative_launch sm_90 total_memory=140GiB "
       "free_memory=100GiB",
       nothing, ""},
      {"memory_pools", [](Candidate& c) { c.facts.memory_pools = false; }, "no memory_pools"},
      {"managed_memory", [](Candidate& c) { c.facts.managed_memory = false; }, "no managed_memory"},
      {"concurrent_managed_access", [](Candidate& c) { c.facts.concurrent_managed_access = false; },
       "no concurrent_managed_access"},
      {"cooperative_launch", [](Candidate& c) { c.facts.cooperative_launch = false; }, "no cooperative_launch"},
      {"cooperative_launch", [](Candidate& c) { c.facts.memory_pools = false; }, ""},
      {"tcc", nothing, "no tcc"},
      {"tcc", [](Candidate& c) { c.facts.driver_model = DriverModel::tcc; }, ""},
      {"wddm", [](Candidate& c) { c.facts.driver_model = DriverModel::tcc; }, "no wddm"},
      {"wddm", [](Candidate& c) { c.facts.driver_model = DriverModel::wddm; }, ""},
      {"mig", nothing, "no mig"},
      {"mig", [](Candidate& c) { c.facts.mig = true; }, ""},
      {"sm_91", nothing, "sm_90"},
      {"sm_100", nothing, "sm_90"},
      {"total_memory=141GiB", nothing, "total_memory of 140 GiB"},
      {"free_memory=101GiB", nothing, "free_memory of 100 GiB"},
      {"memory_pools sm_100 mig", [](Candidate& c) { c.facts.memory_pools = false; }, "no memory_pools, no mig, sm_90"},
      {"memory_pools", [](Candidate& c) { c.facts.memory_pools.reset(); }, "memory_pools unknown"},
      {"sm_80",
       [](Candidate& c) {
         c.facts.sm.reset();
         c.facts.why_unknown = "cuInit answers CUDA_ERROR_NO_DEVICE (100)";
       },
       "sm unknown (cuInit answers CUDA_ERROR_NO_DEVICE (100))"},
      {"peer_access", nothing, ""}, // between devices only
  };
  for (const auto& c : cases) {
    Candidate candidate = h200();
    c.change(candidate);
    EXPECT_EQ(lacking(parse_capabilities(c.required), candidate), c.expected) << c.required;
  }
}

TEST(Capabilities, are_asked_of_the_driver_only_if_no_other_source_has_them) {
  DeviceFacts of_nvml;
  of_nvml.sm = 90;
  for (const char* required : {"", "sm_80", "tcc wddm mig", "total_memory=1GiB free_memory=1GiB"}) {
    EXPECT_FALSE(needs_driver(parse_capabilities(required), of_nvml)) << required;
  }
  for (const char* required :
       {"memory_pools", "managed_memory", "concurrent_managed_access", "cooperative_launch", "peer_access"}) {
    EXPECT_TRUE(needs_driver(parse_capabilities(required), of_nvml)) << required;
  }
  EXPECT_TRUE(needs_driver(parse_capabilities("sm_80"), DeviceFacts{})) << "an NVML that does not say";
  auto known = usual_simulated_facts();
  known.peers.emplace();
  EXPECT_FALSE(needs_driver(parse_capabilities("memory_pools peer_access"), known));
}

TEST(Capabilities, that_devices_lack_make_a_sentence_with_both_sides) {
  Candidate older = h200();
  older.device = {"GPU-2", "NVIDIA T4", 16_GiB, false};
  older.facts.sm = 75;
  older.facts.memory_pools = false;
  const auto required = parse_capabilities("memory_pools sm_80");
  EXPECT_EQ(why_not(required, {h200()}, {0}), "");
  EXPECT_EQ(why_not(required, {h200(), older}, {0, 1}),
            "asked memory_pools, sm_80; GPU-2 (NVIDIA T4) has no memory_pools, sm_75");
}

TEST(Capabilities, between_devices_are_held_against_each_pair) {
  std::vector<Candidate> three{h200(), h200(), h200()};
  three[1].device.uuid = "GPU-2";
  three[2].device.uuid = "GPU-3";
  three[0].facts.peers = {{5, 7}};
  three[1].facts.peers = {{4}};
  three[2].facts.peers = {{4, 5}}; // 4 does not reach it
  const auto required = parse_capabilities("peer_access");
  EXPECT_EQ(why_not(required, {three[0], three[1]}, {4, 5}), "");
  EXPECT_EQ(why_not(required, {three[0]}, {4}), "") << "one device has nobody to reach";
  EXPECT_EQ(why_not(required, {three[0], three[2]}, {4, 6}),
            "asked peer_access; between GPU-1 (NVIDIA H200) and GPU-3 (NVIDIA H200) there is no peer_access");
  three[0].facts.peers.reset();
  EXPECT_EQ(why_not(required, {three[0], three[1]}, {4, 5}),
            "asked peer_access; GPU-1 (NVIDIA H200) has peer_access unknown");
}

TEST(PeerGroup, is_the_largest_whose_members_all_reach_one_another) {
  using Indices = std::vector<std::size_t>;
  const auto group_of = [](const Indices& indices, const std::vector<Indices>& peers) {
    std::vector<DeviceFacts> facts(peers.size());
    for (std::size_t i = 0; i < peers.size(); ++i) {
      facts[i].peers = peers[i];
    }
    return largest_peer_group(indices, facts);
  };
  EXPECT_EQ(group_of({}, {}), Indices{});
  EXPECT_EQ(group_of({3, 4}, {{}, {}}), Indices{3});
  EXPECT_EQ(group_of({3, 4}, {{4}, {3}}), (Indices{3, 4}));
  EXPECT_EQ(group_of({3, 4}, {{4}, {}}), Indices{3}) << "one way is not enough";
  EXPECT_EQ(group_of({0, 1, 2, 3, 4}, {{2}, {3, 4}, {0}, {1, 4}, {1, 3}}), (Indices{1, 3, 4}));
  EXPECT_EQ(group_of({0, 1, 2, 3}, {{1}, {0}, {3}, {2}}), (Indices{0, 1})) << "the first of equals";
}

TEST(DeviceFacts, say_why_a_device_cannot_be_used) {
  DeviceFacts facts;
  EXPECT_EQ(why_unusable(facts), "");
  facts.compute_mode = ComputeMode::prohibited;
  EXPECT_EQ(why_unusable(facts),
            "its compute mode is PROHIBITED, so no process may use it; `nvidia-smi -c DEFAULT` allows it");
  facts.lost = true;
  EXPECT_EQ(why_unusable(facts).substr(0, 18), "it does not answer");
  facts = {};
  facts.compute_mode = ComputeMode::exclusive_process;
  facts.shares_host_memory = true;
  facts.lists_processes = false;
  facts.driver_model = DriverModel::wddm;
  facts.why_unknown = "there is none";
  EXPECT_EQ(why_unusable(facts), "");
}

} // namespace

} // namespace gputest::policy
