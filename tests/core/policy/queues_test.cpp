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

std::string in_words(const std::vector<std::size_t>& positions) {
  std::string words;
  for (const std::size_t position : positions) {
    words += (words.empty() ? "" : " ") + std::to_string(position);
  }
  return words.empty() ? "nobody" : words;
}

/// Who has to leave for the first claim, and whether that is `enough`.
std::string leaving_for_the_first(const Snapshot& snapshot) {
  const auto decision = decide(snapshot, 0);
  const auto* wait = std::get_if<Wait>(&decision);
  if (wait == nullptr) {
    return policy::in_words(decision);
  }
  const Leaving leaving = idle_to_evict(snapshot, 0, *wait);
  return in_words(leaving.positions) + (leaving.enough ? ", enough" : "");
}

TEST(WhoHasToLeave, is_as_few_as_make_room_and_all_that_are_in_the_way_where_these_do_not) {
  const Claim context = inside(1, 10, 20);
  const std::vector<AdmissionCase> cases{
      {"one of two", {{{55}}, {entering(1, 1, 10, 30), idle(context), idle(context)}}, "2, enough"},
      {"the one that has not worked for longest",
       {{{55}},
        {entering(9, 1, 10, 30), idle(with_ticket(7, context)), idle(with_ticket(5, context)),
         idle(with_ticket(6, context))}},
       "3 2, enough"},
      {"the one that is large enough",
       {{{100}}, {entering(1, 1, 10, 30), idle(inside(1, 10, 20)), idle(inside(1, 60, 20)), idle(inside(1, 10, 20))}},
       "2, enough"},
      {"both", {{{45}}, {entering(1, 1, 10, 30), idle(context), idle(context)}}, "1 2, enough"},
      {"all for the whole device",
       {{{100}}, {whole(entering(1, 1, 10, 0)), idle(context), idle(context)}},
       "1 2, enough"},
      {"all where that is not enough",
       {{{100}}, {whole(entering(1, 1, 10, 0)), idle(context), context, idle(context)}},
       "1 3"},
      {"of one device, where another one has none",
       {{{45}, {45}}, {entering(1, 3, 10, 30), idle(inside(1, 10, 20)), inside(2, 10, 20)}},
       "1, enough"},
      {"of one of two devices",
       {{{45}, {45}}, {entering(1, 3, 10, 30), idle(inside(1, 10, 20)), idle(inside(2, 10, 20))}},
       "2, enough"},
      {"of both where both are wanted",
       {{{45}, {45}}, {entering(1, 3, 10, 30, 2), idle(inside(1, 10, 20)), idle(inside(2, 10, 20))}},
       "1 2, enough"},
      {"nobody where there is room", {{{100}}, {entering(1, 1, 10, 30), idle(context)}}, "grant 1"},
      {"nobody who is not idle", {{{45}}, {entering(1, 1, 10, 30), context, context}}, "nobody"},
      {"nobody who is stopped", {{{45}}, {entering(1, 1, 10, 30), stopped(idle(context))}}, "nobody"},
      {"nobody for one whose turn has not come",
       {{{45}}, {entering(2, 1, 10, 30), idle(context), entering(1, 1, 10, 30)}},
       "nobody"},
      {"for a lease", {{{65}}, {waiting(1, context, 40), idle(context), idle(context)}}, "2, enough"},
      {"for a lease that has room beside all that is held then",
       {{{75}}, {waiting(1, context, 20), idle(context), holding(context, 30)}},
       "1, enough"},
      {"nobody for a lease that those who hold others keep out",
       {{{65}}, {waiting(1, context, 20), idle(context), holding(context, 30)}},
       "nobody"},
      {"for an exclusive lease", {{{100}}, {exclusive(waiting(1, context, 0)), idle(context)}}, "1, enough"},
      {"where external processes leave room for the rest",
       {{{100, 40}}, {entering(1, 1, 10, 45), idle(context)}},
       "1, enough"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(leaving_for_the_first(c.snapshot), c.expected) << c.claim;
  }
}

TEST(WhoHasToLeave, for_a_larger_lease_than_announced_is_who_breaks_the_entry_rule) {
  const Claim context = inside(1, 10, 20);
  const auto who = [](const Snapshot& snapshot, std::uint64_t bytes) {
    const auto leaving = idle_to_evict_for(snapshot, 0, bytes);
    return leaving ? in_words(*leaving) : "in vain";
  };
  EXPECT_EQ(who({{{100}}, {context, idle(context), idle(context)}}, 70), "nobody");
  EXPECT_EQ(who({{{100}}, {context, idle(context), idle(context)}}, 80), "2");
  EXPECT_EQ(who({{{100}}, {context, idle(context), idle(context)}}, 90), "1 2");
  EXPECT_EQ(who({{{100}}, {context, idle(context), context}}, 85), "in vain");
  EXPECT_EQ(who({{{100}, {100}}, {context, idle(inside(2, 10, 20))}}, 91), "in vain");
}

TEST(InTheWay, is_an_idle_process_that_alone_keeps_out_one_whose_turn_has_come) {
  struct Case {
    std::string claim;
    Snapshot snapshot;
    bool expected;
  };
  const Claim context = inside(1, 10, 20);
  const std::vector<Case> cases{
      {"alone", {{{45}}, {idle(context), entering(1, 1, 10, 30)}}, true},
      {"there is room", {{{50}}, {idle(context), entering(1, 1, 10, 30)}}, false},
      {"another one leaves for it", {{{55}}, {idle(context), entering(1, 1, 10, 30), idle(context)}}, false},
      {"both have to", {{{45}}, {idle(context), entering(1, 1, 10, 30), idle(context)}}, true},
      {"beside one that works", {{{45}}, {idle(context), entering(1, 1, 10, 30), context}}, true},
      {"behind another", {{{45}}, {idle(context), behind(1, entering(2, 1, 10, 30))}}, false},
      {"on another device", {{{45}, {45}}, {idle(context), entering(1, 2, 10, 40)}}, false},
      {"one process too many", {{{99, 0, 1}}, {idle(context), entering(1, 1, 10, 30)}}, true},
      {"another one leaves its place", {{{99, 0, 2}}, {idle(context), entering(1, 1, 1, 1), idle(context)}}, false},
      {"a lease that another holds", {{{65}}, {idle(context), waiting(1, context, 40), holding(context, 30)}}, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(is_in_the_way(c.snapshot, 0), c.expected) << c.claim;
  }
}

TEST(IsStuck, where_all_but_those_that_leave_wait) {
  const Claim grown = inside(1, 40, 30);
  EXPECT_TRUE(is_stuck({{{100}}, {waiting(1, grown, 30), waiting(2, grown, 30), idle(inside(1, 5, 30))}}, 0));
  EXPECT_FALSE(is_stuck({{{100}}, {waiting(1, grown, 30), idle(grown)}}, 0)) << "there is room without it";
  EXPECT_FALSE(is_stuck({{{100}}, {waiting(1, grown, 30), stopped(idle(grown))}}, 0)) << "it may be killed";
}

} // namespace

} // namespace gputest::policy
