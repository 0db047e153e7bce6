// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/queues.hpp"

#include "core/policy/admission_claims.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {
namespace {

using Positions = std::vector<std::size_t>;

TEST(Concerned, are_those_that_are_behind_nobody_and_those_behind_the_one_that_was_granted) {
  struct Case {
    std::string claim;
    std::vector<Claim> claims;
    std::uint64_t granted;
    Positions expected;
  };
  const Claim at_work = inside(1, 1, 1);
  const std::vector<Case> cases{
      {"nobody", {}, 0, {}},
      {"nobody who asks", {at_work, holding(at_work, 5), Claim{}}, 0, {}},
      {"of each queue", {waiting(2, at_work, 1), entering(1, 1, 1, 1)}, 0, {0, 1}},
      {"not those behind another", {waiting(1, at_work, 1), behind(1, waiting(2, at_work, 1))}, 0, {0}},
      {"those behind the granted one", {behind(1, waiting(2, at_work, 1)), behind(2, waiting(3, at_work, 1))}, 1, {0}},
      {"whoever enters is behind none that leases", {behind(1, entering(2, 1, 1, 1))}, 1, {}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(concerned(c.claims, c.granted), c.expected) << c.claim;
  }
}

TEST(NearestExcluder, is_the_last_ahead_that_a_request_cannot_run_beside) {
  const Claim at_work = inside(1, 10, 1);
  const Snapshot snapshot{{{100}},
                          {waiting(5, at_work, 40), waiting(1, at_work, 41), waiting(2, at_work, 60),
                           waiting(3, at_work, 40), waiting(6, at_work, 90), waiting(4, inside(2, 1, 1), 90)}};
  EXPECT_EQ(nearest_excluder(snapshot, 0), 2U);
  EXPECT_EQ(nearest_excluder(snapshot, 1), std::nullopt);
  Snapshot with_stopped = snapshot;
  with_stopped.claims[2].stopped = true;
  EXPECT_EQ(nearest_excluder(with_stopped, 0), 1U) << "41 and 40 do not fit with their contexts";
}

TEST(NextAhead, is_the_last_that_arrived_before_it_in_its_queue_and_asks_for_the_device) {
  const Claim at_work = inside(1, 1, 1);
  const std::vector<Claim> claims{waiting(5, at_work, 1), waiting(2, at_work, 1),         waiting(4, at_work, 1),
                                  waiting(6, at_work, 1), waiting(3, inside(2, 1, 1), 1), entering(1, 1, 1, 1)};
  EXPECT_EQ(next_ahead({{}, claims}, 0, 0), 2U);
  EXPECT_EQ(next_ahead({{}, claims}, 1, 0), std::nullopt);
  EXPECT_EQ(next_ahead({{}, claims}, 5, 0), std::nullopt) << "the first that enters";
}

} // namespace
} // namespace gputest::policy
