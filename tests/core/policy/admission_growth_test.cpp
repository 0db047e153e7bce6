// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/admission.hpp"

#include "core/policy/admission_claims.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputest::policy {
namespace {

TEST(MayRaise, asks_for_the_entry_rule_with_the_larger_lease) {
  struct Case {
    std::string claim;
    Snapshot snapshot;
    std::uint64_t bytes;
    bool expected;
  };
  const std::vector<Case> cases{
      {"alone, exactly", {{{100}}, {inside(1, 10, 5)}}, 90, true},
      {"alone, too much", {{{100}}, {inside(1, 10, 5)}}, 91, false},
      {"beside another's context", {{{100}}, {inside(1, 10, 5), inside(1, 30, 5)}}, 60, true},
      {"not beside another's context", {{{100}}, {inside(1, 10, 5), inside(1, 30, 5)}}, 61, false},
      {"another's larger lease counts", {{{100}}, {inside(1, 10, 5), inside(1, 30, 61)}}, 10, false},
      {"leases of now do not", {{{100}}, {inside(1, 10, 5), holding(inside(1, 30, 60), 60)}}, 60, true},
      {"external processes count", {{{100, 20}}, {inside(1, 10, 5)}}, 71, false},
      {"on both devices", {{{100}, {100}}, {inside(3, 10, 5), inside(2, 30, 5)}}, 61, false},
      {"others elsewhere", {{{100}, {100}}, {inside(1, 10, 5), inside(2, 30, 5)}}, 90, true},
      {"who enters is not inside", {{{100}}, {inside(1, 10, 5), entering(1, 1, 80, 5)}}, 90, true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(may_raise(c.snapshot, 0, c.bytes), c.expected) << c.claim;
  }
}

TEST(IsStuck, where_contexts_leave_no_room_and_everybody_waits) {
  struct Case {
    std::string claim;
    Snapshot snapshot;
    bool expected;
  };
  const Claim grown = inside(1, 40, 30);
  const std::vector<Case> cases{
      {"all wait", {{{100}}, {waiting(1, grown, 30), waiting(2, grown, 30)}}, true},
      {"but only the first can tell", {{{100}}, {waiting(2, grown, 30), waiting(1, grown, 30)}}, false},
      {"there is room", {{{110}}, {waiting(1, grown, 30), waiting(2, grown, 30)}}, false},
      {"one is between two tests", {{{100}}, {waiting(1, grown, 30), grown}}, false},
      {"one holds", {{{100}}, {waiting(1, grown, 30), holding(grown, 1)}}, false},
      {"one waits for another device",
       {{{100}, {100}}, {waiting(1, grown, 30), with_lease(inside(3, 40, 30), Stage::waiting, 2, 30)}},
       false},
      {"who enters does not count", {{{100}}, {waiting(1, grown, 30), entering(1, 1, 40, 30)}}, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(is_stuck(c.snapshot, 0), c.expected) << c.claim;
  }
}

} // namespace
} // namespace gputest::policy
