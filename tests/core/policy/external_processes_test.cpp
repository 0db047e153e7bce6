// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/external_processes.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {
namespace {

using Processes = std::optional<std::vector<ListedProcess>>;

TEST(ExternalProcesses, are_counted_by_the_drivers_list_and_else_by_what_is_used_beyond_all_claims) {
  const Processes none{std::vector<ListedProcess>{}};
  struct Case {
    std::string claim;
    std::uint64_t used_bytes;
    Processes processes;
    std::vector<ClaimedMemory> claims;
    std::uint64_t expected;
  };
  const std::vector<Case> cases{
      {"an idle device", 0, none, {}, 0},
      {"listed and not on the ledger", 30, Processes{{{7, 30}}}, {{1, 50}}, 30},
      {"on the ledger and within its claim", 30, Processes{{{1, 30}}}, {{1, 50}}, 0},
      {"on the ledger and beyond its claim", 60, Processes{{{1, 60}}}, {{1, 50}}, 10},
      {"two processes of one owner share its claim", 60, Processes{{{1, 35}, {1, 25}}}, {{1, 50}}, 10},
      {"an unused claim does not hide an external process", 30, Processes{{{7, 30}}}, {{1, 100}}, 30},
      {"one claim's room is not another's", 60, Processes{{{1, 60}}}, {{1, 50}, {2, 50}}, 10},
      {"unlisted use within unused claims is our own", 40, Processes{{{1, 10}}}, {{1, 50}}, 0},
      {"unlisted use beyond unused claims", 70, Processes{{{1, 10}}}, {{1, 50}}, 20},
      {"an empty list, and more in use than claimed", 70, none, {{1, 50}}, 20},
      {"an external process and unlisted use", 100, Processes{{{7, 30}}}, {{1, 50}}, 50},
      {"a list that adds up to more than is in use", 20, Processes{{{7, 30}}}, {}, 30},
      {"no list: within the claims", 60, std::nullopt, {{1, 50}, {2, 50}}, 0},
      {"no list: beyond the claims", 110, std::nullopt, {{1, 50}, {2, 50}}, 10},
      {"a list without bytes is none", 60, Processes{{{7, std::nullopt}, {1, 30}}}, {{1, 50}}, 10},
      {"no list: claims that would wrap", 60, std::nullopt, {{1, UINT64_MAX}, {2, 50}}, 0},
      {"unused claims that would wrap", 60, none, {{1, UINT64_MAX}, {2, 50}}, 0},
      {"a list that would wrap", 60, Processes{{{7, UINT64_MAX}, {8, 30}}}, {}, UINT64_MAX},
      {"a list of pids that mean nothing here is none", 60, Processes{{{7, 60, false}}}, {{1, 50}}, 10},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(external_bytes(c.used_bytes, c.processes, c.claims), c.expected) << c.claim;
  }
}

TEST(ExternalProcesses, are_told_from_those_that_have_more_than_they_claimed) {
  const std::vector<ClaimedMemory> claims{{1, 50}, {2, 50}, {3, UINT64_MAX}};
  const Processes listed{{{1, 60}, {7, 20}, {2, 30}, {2, 35}, {3, 10}}};
  EXPECT_EQ(over_lease_bytes(listed, claims), (std::vector<std::uint64_t>{10, 15, 0}));
  EXPECT_TRUE(over_lease_bytes(std::nullopt, claims).empty());
  EXPECT_TRUE(over_lease_bytes(Processes{{{1, 60}, {2, std::nullopt}}}, claims).empty()) << "no list without bytes";
  EXPECT_TRUE(over_lease_bytes(Processes{{{1, 60, false}}}, claims).empty()) << "nor of pids that mean nothing here";
}

TEST(ExternalProcesses, are_the_hosts_programs_where_the_device_shares_its_memory) {
  const std::vector<ClaimedMemory> claims{{7, 50}};
  const std::vector<ListedProcess> listed{{7, 20}, {8, 5}};
  EXPECT_EQ(external_bytes(60, listed, claims), 5U + 5U) << "30 of the 35 that are listed nowhere fit in the claim";
  EXPECT_EQ(external_bytes(60, listed, claims, Unlisted::others), 5U + 35U);
}

} // namespace
} // namespace gputest::policy
