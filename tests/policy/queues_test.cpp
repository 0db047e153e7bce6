#include "policy/queues.hpp"

#include "policy/admission_claims.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {
namespace {

using Positions = std::vector<std::size_t>;

TEST(Heads, are_those_that_nobody_in_their_queue_is_ahead_of) {
  struct Case {
    std::string claim;
    std::vector<Claim> claims;
    Positions expected;
  };
  const Claim idle = inside(1, 1, 1);
  const Claim both = inside(3, 1, 1);
  const std::vector<Case> cases{
      {"nobody", {}, {}},
      {"nobody who asks", {idle, holding(idle, 5), Claim{}}, {}},
      {"the first to lease", {waiting(2, idle, 1), waiting(1, idle, 1)}, {1}},
      {"the first to enter", {entering(2, 1, 1, 1), entering(1, 1, 1, 1)}, {1}},
      {"one of each queue, the earlier first", {waiting(2, idle, 1), entering(1, 1, 1, 1)}, {1, 0}},
      {"one of each device", {waiting(1, idle, 1), waiting(2, inside(2, 1, 1), 1)}, {0, 1}},
      {"who leases needs all its devices", {waiting(1, idle, 1), waiting(2, both, 1)}, {0}},
      {"and keeps later ones from each of them",
       {waiting(1, idle, 1), waiting(2, both, 1), waiting(3, inside(2, 1, 1), 1)},
       {0}},
      {"who enters needs one of its candidates", {entering(1, 1, 1, 1), entering(2, 3, 1, 1)}, {0, 1}},
      {"of which an earlier one leaves some", {entering(1, 3, 1, 1), entering(2, 3, 1, 1)}, {0}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(heads({{}, c.claims}), c.expected) << c.claim;
  }
}

TEST(NextAhead, is_the_last_that_arrived_before_it_in_its_queue_and_asks_for_the_device) {
  const Claim idle = inside(1, 1, 1);
  const std::vector<Claim> claims{waiting(5, idle, 1),
                                  waiting(2, idle, 1),
                                  waiting(4, idle, 1),
                                  waiting(6, idle, 1),
                                  waiting(3, inside(2, 1, 1), 1),
                                  entering(1, 1, 1, 1)};
  EXPECT_EQ(next_ahead({{}, claims}, 0, 0), 2U);
  EXPECT_EQ(next_ahead({{}, claims}, 1, 0), std::nullopt);
  EXPECT_EQ(next_ahead({{}, claims}, 5, 0), std::nullopt) << "the first that enters";
}

} // namespace
} // namespace gputest::policy
