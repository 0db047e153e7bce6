// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/admission.hpp"

#include "core/policy/admission_claims.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputest::policy {
namespace {

void check(const std::vector<AdmissionCase>& cases) {
  for (const auto& c : cases) {
    EXPECT_EQ(in_words(decide(c.snapshot, 0)), c.expected) << c.claim;
  }
}

TEST(AdmissionEntering, admits_while_all_overheads_and_the_largest_lease_fit) {
  check({
      {"an empty device", {{{100}}, {entering(1, 1, 10, 50)}}, "grant 1"},
      {"all of a device", {{{100}}, {entering(1, 1, 10, 90)}}, "grant 1"},
      {"beside another, exactly", {{{100}}, {entering(1, 1, 20, 50), inside(1, 30, 40)}}, "grant 1"},
      {"its own lease is the largest", {{{100}}, {entering(1, 1, 20, 51), inside(1, 30, 40)}}, "wait for 1"},
      {"another's lease is the largest", {{{100}}, {entering(1, 1, 20, 5), inside(1, 30, 51)}}, "wait for 1"},
      {"leases are not added up", {{{100}}, {entering(1, 1, 5, 60), inside(1, 5, 60), inside(1, 5, 60)}}, "grant 1"},
      {"what waits for a lease is inside",
       {{{100}}, {entering(1, 1, 20, 5), waiting(1, inside(1, 30, 51), 1)}},
       "wait for 1"},
      {"who waits to enter is not", {{{100}}, {entering(1, 1, 60, 5), entering(2, 1, 60, 5)}}, "grant 1"},
      {"nor is who is outside", {{{100}}, {entering(1, 1, 60, 5), Claim{}}}, "grant 1"},
      {"others on other devices", {{{100}, {100}}, {entering(1, 1, 60, 40), inside(2, 90, 10)}}, "grant 1"},
  });
}

TEST(AdmissionEntering, leaves_room_for_what_is_leased_now) {
  check({
      {"module", {{{100}}, {entering(1, 1, 10, 5), holding(inside(1, 10, 40), 80)}}, "grant 1"},
      {"none", {{{100}}, {entering(1, 1, 11, 5), holding(inside(1, 10, 40), 80)}}, "wait for 1"},
      {"of two leases",
       {{{100}}, {entering(1, 1, 11, 5), holding(inside(1, 10, 40), 40), holding(inside(1, 0, 40), 40)}},
       "wait for 1 2"},
      {"a lease of another device",
       {{{100}, {100}}, {entering(1, 1, 20, 5), with_lease(inside(3, 10, 70), Stage::holding, 2, 70)}},
       "grant 1"},
  });
}

TEST(AdmissionEntering, keeps_everybody_else_out_of_a_whole_device) {
  check({
      {"alone", {{{100}}, {whole(entering(1, 1, 10, 0))}}, "grant 1"},
      {"not beside anybody", {{{100}}, {whole(entering(1, 1, 10, 0)), inside(1, 1, 1)}}, "wait for 1"},
      {"nobody beside it", {{{100}}, {entering(1, 1, 10, 5), whole(inside(1, 1, 0))}}, "wait for 1"},
      {"nobody beside an exclusive lease",
       {{{100}}, {entering(1, 1, 10, 5), exclusive(holding(inside(1, 1, 0), 0))}},
       "wait for 1"},
      {"another device", {{{100}, {100}}, {whole(entering(1, 3, 10, 0)), inside(1, 1, 1)}}, "grant 2"},
  });
}

TEST(AdmissionEntering, lets_one_process_in_where_a_device_takes_one) {
  const Capacity one{100, 0, 1};
  check({
      {"the first", {{one}, {entering(1, 1, 10, 5)}}, "grant 1"},
      {"the second", {{one}, {entering(1, 1, 10, 5), inside(1, 10, 5)}}, "wait for 1"},
      {"who waits to enter is not inside", {{one}, {entering(1, 1, 10, 5), entering(2, 1, 10, 5)}}, "grant 1"},
      {"another device", {{one, {50}}, {entering(1, 3, 10, 5), inside(1, 10, 5)}}, "grant 2"},
      {"two of them", {{one, one}, {entering(1, 3, 10, 5, 2), inside(2, 10, 5)}}, "wait for 1"},
  });
}

TEST(AdmissionEntering, lets_as_many_processes_in_as_may_be_on_a_device) {
  const Capacity three{100, 0, 3};
  const Claim other = inside(1, 1, 1);
  check({
      {"the third", {{three}, {entering(1, 1, 1, 1), other, other}}, "grant 1"},
      {"the fourth", {{three}, {entering(1, 1, 1, 1), other, other, other}}, "wait for 1 2 3"},
      {"what holds a lease, waits for one or is idle counts",
       {{three}, {entering(1, 1, 1, 1), holding(other, 1), waiting(2, other, 1), idle(other)}},
       "wait for 1 2 3"},
      {"who waits to enter does not", {{three}, {entering(1, 1, 1, 1), other, other, entering(2, 1, 1, 1)}}, "grant 1"},
      {"on another device", {{three, three}, {entering(1, 3, 1, 1), other, other, other}}, "grant 2"},
      {"both devices", {{three, three}, {entering(1, 3, 1, 1, 2), other, other, other}}, "wait for 1 2 3"},
  });
}

TEST(AdmissionEntering, takes_the_devices_with_most_room) {
  check({
      {"the emptier one", {{{100}, {100}}, {entering(1, 3, 10, 5), inside(1, 20, 5)}}, "grant 2"},
      {"leases count",
       {{{100}, {100}}, {entering(1, 3, 10, 5), inside(1, 20, 5), holding(inside(2, 10, 50), 50)}},
       "grant 1"},
      {"the larger one", {{{100}, {200}}, {entering(1, 3, 10, 5)}}, "grant 2"},
      {"the first of equals", {{{100}, {100}}, {entering(1, 3, 10, 5)}}, "grant 1"},
      {"only candidates", {{{100}, {900}, {200}}, {entering(1, 5, 10, 5)}}, "grant 4"},
      {"the two emptiest", {{{100}, {300}, {200}}, {entering(1, 7, 10, 5, 2)}}, "grant 6"},
      {"external processes' memory is no room", {{{100, 60}, {80}}, {entering(1, 3, 10, 5)}}, "grant 2"},
  });
}

TEST(AdmissionEntering, grants_all_devices_at_once_or_none) {
  check({
      {"both free", {{{100}, {100}}, {entering(1, 3, 10, 5, 2)}}, "grant 3"},
      {"one of them full", {{{100}, {100}}, {entering(1, 3, 10, 5, 2), inside(2, 90, 5)}}, "wait for 1"},
      {"a third one is free", {{{100}, {100}, {100}}, {entering(1, 7, 10, 5, 2), inside(2, 90, 5)}}, "grant 5"},
      {"both full, both named",
       {{{100}, {100}}, {entering(1, 3, 10, 5, 2), inside(2, 90, 5), inside(1, 90, 5)}},
       "wait for 2 1"},
      {"who is on both is named once", {{{100}, {100}}, {entering(1, 3, 10, 5, 2), inside(3, 90, 5)}}, "wait for 1"},
  });
}

TEST(AdmissionEntering, is_first_come_first_served_per_device) {
  check({
      {"behind an earlier one", {{{100}}, {entering(2, 1, 10, 5), entering(1, 1, 90, 10)}}, "wait for 1"},
      {"before a later one", {{{100}}, {entering(1, 1, 10, 5), entering(2, 1, 90, 10)}}, "grant 1"},
      {"an earlier one elsewhere", {{{100}, {100}}, {entering(2, 1, 10, 5), entering(1, 2, 90, 10)}}, "grant 1"},
      {"on the device that nobody earlier may use",
       {{{100}, {100}}, {entering(2, 3, 10, 5), entering(1, 1, 9, 9)}},
       "grant 2"},
      {"the next ahead is named, who waits for the others",
       {{{100}}, {entering(3, 1, 10, 5), entering(1, 1, 9, 9), entering(2, 1, 9, 9)}},
       "wait for 2"},
      {"the next ahead on each device",
       {{{100}, {100}}, {entering(4, 3, 10, 5), entering(3, 1, 9, 9), entering(1, 1, 9, 9), entering(2, 2, 9, 9)}},
       "wait for 1 3"},
      {"ahead on one and inside on the other",
       {{{100}, {100}}, {entering(2, 3, 10, 5), entering(1, 1, 90, 10), inside(2, 90, 5)}},
       "wait for 1 2"},
      {"who waits for a lease is not ahead",
       {{{100}}, {entering(2, 1, 10, 5), waiting(1, inside(1, 10, 10), 10)}},
       "grant 1"},
  });
}

TEST(AdmissionEntering, waits_for_the_turn_of_nobody_whom_external_processes_keep_out) {
  check({
      {"not certainly external", {{{100, 40}}, {entering(2, 1, 10, 5), entering(1, 1, 10, 51)}}, "wait for 1"},
      {"certainly", {{{100, 40}}, {entering(2, 1, 10, 5), entering(1, 1, 10, 51)}, true}, "grant 1"},
      {"they leave room for it", {{{100, 40}}, {entering(2, 1, 10, 5), entering(1, 1, 10, 50)}, true}, "wait for 1"},
      {"though others on the ledger do not",
       {{{100, 40}}, {entering(2, 1, 1, 5), entering(1, 1, 10, 50), inside(1, 20, 20)}, true},
       "wait for 1"},
      {"the next ahead of those that are not kept out",
       {{{100, 40}}, {entering(3, 1, 10, 5), entering(1, 1, 10, 9), entering(2, 1, 10, 51)}, true},
       "wait for 1"},
      {"it wants the whole device",
       {{{100, 51}}, {entering(2, 1, 10, 5), whole(entering(1, 1, 10, 0))}, true},
       "grant 1"},
      {"it is kept out of one device",
       {{{100, 40}, {100}}, {entering(2, 3, 10, 5), entering(1, 3, 10, 51)}, true},
       "grant 1"},
      {"and enters another", {{{100, 40}, {100}}, {entering(2, 2, 10, 5), entering(1, 3, 10, 51)}, true}, "wait for 1"},
      {"but needs both", {{{100, 40}, {100}}, {entering(2, 2, 10, 5), entering(1, 3, 10, 51, 2)}, true}, "grant 2"},
      {"of which only one is shown", {{{100}}, {entering(2, 1, 10, 5), entering(1, 3, 10, 85, 2)}, true}, "wait for 1"},
  });
}

TEST(AdmissionEntering, takes_external_processes_memory_off_the_capacity) {
  check({
      {"room beside them", {{{100, 40}}, {entering(1, 1, 10, 50)}}, "grant 1"},
      {"no room beside them", {{{100, 41}}, {entering(1, 1, 10, 50)}}, "wait for external processes"},
      {"they are not why", {{{100, 1}}, {entering(1, 1, 50, 50), inside(1, 10, 5)}}, "wait for 1"},
      {"they and others", {{{100, 20}}, {entering(1, 1, 50, 30), inside(1, 10, 5)}}, "wait for 1 external processes"},
      {"more than there is", {{{100, 900}}, {entering(1, 1, 1, 1)}}, "wait for external processes"},
      {"more than there is leaves the least room", {{{100, 900}, {100, 90}}, {entering(1, 3, 0, 0)}}, "grant 2"},
      {"half leaves a whole device", {{{100, 50}}, {whole(entering(1, 1, 10, 0))}}, "grant 1"},
      {"more than half does not", {{{100, 51}}, {whole(entering(1, 1, 10, 0))}}, "wait for external processes"},
      {"but for one that is alone with bytes", {{{100, 51}}, {whole(entering(1, 1, 10, 5))}}, "grant 1"},
      {"another device has none", {{{100, 51}, {90}}, {whole(entering(1, 3, 10, 0))}}, "grant 2"},
  });
}

TEST(AdmissionEntering, refuses_what_its_devices_can_never_hold) {
  check({
      {"too large", {{{100}}, {entering(1, 1, 20, 81)}}, "refuse 101 of 100, 1 of 1 gpus"},
      {"even where others are in the way",
       {{{100}}, {entering(9, 1, 20, 81), entering(1, 1, 1, 1), inside(1, 90, 1)}},
       "refuse 101 of 100, 1 of 1 gpus"},
      {"too large for one of two", {{{100}, {200}}, {entering(1, 3, 20, 81, 2)}}, "refuse 101 of 200, 2 of 2 gpus"},
      {"large enough on the other", {{{100}, {200}}, {entering(1, 3, 20, 81)}}, "grant 2"},
      {"too few devices", {{{100}, {100}}, {entering(1, 2, 10, 5, 2)}}, "refuse 15 of 100, 2 of 1 gpus"},
      {"a device that is not there", {{{0}}, {entering(1, 1, 0, 1)}}, "refuse 1 of 0, 1 of 1 gpus"},
      {"sums that would wrap",
       {{{100}}, {entering(1, 1, UINT64_MAX, 2)}},
       "refuse 18446744073709551615 of 100, 1 of 1 gpus"},
      {"not because of external processes", {{{100, 100}}, {entering(1, 1, 20, 80)}}, "wait for external processes"},
  });
}

Claim asks(std::uint64_t bytes, std::uint64_t ticket = 1, DeviceMask devices = 1) {
  return waiting(ticket, inside(devices, 10, 90), bytes);
}

TEST(AdmissionLeasing, grants_while_all_overheads_and_all_leases_fit) {
  check({
      {"alone", {{{100}}, {asks(90)}}, "grant 1"},
      {"beside idle ones", {{{100}}, {asks(70), inside(1, 10, 90), inside(1, 10, 0)}}, "grant 1"},
      {"an idle one's context is in the way", {{{100}}, {asks(71), inside(1, 20, 90)}}, "wait for 1"},
      {"beside a lease", {{{100}}, {asks(30), holding(inside(1, 10, 90), 50)}}, "grant 1"},
      {"not enough beside a lease", {{{100}}, {asks(31), holding(inside(1, 10, 90), 50)}}, "wait for 1"},
      {"two leases",
       {{{100}}, {asks(31), holding(inside(1, 10, 90), 20), holding(inside(1, 10, 90), 20)}},
       "wait for 1 2"},
      {"who waits holds nothing", {{{100}}, {asks(80), asks(80, 2)}}, "grant 1"},
      {"who enters holds nothing", {{{100}}, {asks(90), entering(1, 1, 50, 50)}}, "grant 1"},
      {"an idle one's context, beside a lease",
       {{{100}}, {asks(31), holding(inside(1, 10, 90), 40), inside(1, 10, 90)}},
       "wait for 1 2"},
      {"an idle one is not in the way of what the lease alone keeps out",
       {{{100}}, {asks(41), holding(inside(1, 10, 90), 40), inside(1, 10, 90)}},
       "wait for 1"},
      {"a lease elsewhere", {{{100}, {100}}, {asks(90), holding(inside(2, 10, 90), 90)}}, "grant 1"},
      {"a lease of the process's other device",
       {{{100}, {100}}, {asks(80), with_lease(inside(3, 10, 90), Stage::holding, 2, 90)}},
       "grant 1"},
  });
}

TEST(AdmissionLeasing, gives_a_devices_medium_lock_to_one_at_a_time) {
  check({
      {"free", {{{100}}, {medium_lock_holders(asks(10))}}, "grant 1"},
      {"taken",
       {{{100}}, {medium_lock_holders(asks(10)), medium_lock_holders(holding(inside(1, 5, 9), 10))}},
       "wait for 1"},
      {"bytes need no medium lock",
       {{{100}}, {asks(10), medium_lock_holders(holding(inside(1, 5, 9), 10))}},
       "grant 1"},
      {"a medium lock beside bytes",
       {{{100}}, {medium_lock_holders(asks(10)), holding(inside(1, 5, 9), 10)}},
       "grant 1"},
      {"each device has one",
       {{{100}, {100}}, {medium_lock_holders(asks(10)), medium_lock_holders(holding(inside(2, 5, 9), 10))}},
       "grant 1"},
      {"taken, and idle ones",
       {{{100}}, {medium_lock_holders(asks(10)), inside(1, 5, 9), medium_lock_holders(holding(inside(1, 5, 9), 10))}},
       "wait for 2"},
      {"a medium lock needs its bytes",
       {{{100}}, {medium_lock_holders(asks(50)), holding(inside(1, 5, 9), 50)}},
       "wait for 1"},
  });
}

TEST(AdmissionLeasing, is_exclusive_only_where_nobody_else_is_inside) {
  check({
      {"alone", {{{100}}, {exclusive(asks(0))}}, "grant 1"},
      {"beside an idle one", {{{100}}, {exclusive(asks(0)), inside(1, 0, 0)}}, "wait for 1"},
      {"beside a lease", {{{100}}, {exclusive(asks(0)), holding(inside(1, 5, 9), 10)}}, "wait for 1"},
      {"beside a lease and an idle one",
       {{{100}}, {exclusive(asks(0)), inside(1, 5, 9), holding(inside(1, 5, 9), 10)}},
       "wait for 2"},
      {"beside one that enters", {{{100}}, {exclusive(asks(0)), entering(1, 1, 5, 9)}}, "grant 1"},
      {"others elsewhere", {{{100}, {100}}, {exclusive(asks(0)), inside(2, 5, 9)}}, "grant 1"},
      {"beside half of external processes", {{{100, 50}}, {exclusive(asks(0))}}, "grant 1"},
      {"beside more of them", {{{100, 51}}, {exclusive(asks(0))}}, "wait for external processes"},
      {"with bytes beside more of them", {{{100, 51}}, {exclusive(asks(20))}}, "grant 1"},
      {"with more bytes than they leave", {{{100, 51}}, {exclusive(asks(40))}}, "wait for external processes"},
      {"with bytes beside an idle one", {{{100}}, {exclusive(asks(20)), inside(1, 0, 0)}}, "wait for 1"},
  });
}

TEST(AdmissionLeasing, keeps_the_order_of_requests_that_cannot_run_side_by_side) {
  const Claim elsewhere = asks(90, 1, 2);
  check({
      {"behind an earlier one", {{{100}}, {asks(10, 2), asks(90, 1)}}, "wait for 1"},
      {"before a later one", {{{100}}, {asks(10, 1), asks(90, 2)}}, "grant 1"},
      {"an earlier one elsewhere", {{{100}, {100}}, {asks(10, 2), elsewhere}}, "grant 1"},
      {"an earlier one on one of two", {{{100}, {100}}, {asks(10, 2, 3), elsewhere}}, "wait for 1"},
      {"only the one ahead is named",
       {{{100}}, {asks(80, 2), asks(5, 1), holding(inside(1, 10, 90), 60)}},
       "wait for 1"},
      {"the last ahead is named, who waits for the others",
       {{{100}}, {asks(50, 3), asks(40, 1), asks(45, 2)}},
       "wait for 2"},
      {"the last ahead of all devices",
       {{{100}, {100}}, {asks(50, 4, 3), asks(40, 1), asks(40, 3), asks(40, 2, 2)}},
       "wait for 2"},
      {"who enters is not ahead", {{{100}}, {asks(10, 2), entering(1, 1, 90, 90)}}, "grant 1"},
      {"an earlier one wants the whole device", {{{100}}, {asks(1, 2), exclusive(asks(0, 1))}}, "wait for 1"},
      {"an earlier one wants the same medium lock",
       {{{100}}, {medium_lock_holders(asks(1, 2)), medium_lock_holders(asks(1, 1))}},
       "wait for 1"},
      {"sums that would wrap", {{{100}}, {asks(1, 2), asks(UINT64_MAX, 1)}}, "wait for 1"},
  });
}

TEST(AdmissionLeasing, lets_a_later_request_pass_if_it_delays_nobody) {
  const Claim holds = holding(inside(1, 10, 90), 40);
  check({
      {"both fit at once", {{{100}}, {asks(10, 2), asks(9, 1)}}, "grant 1"},
      {"beside what is waited for", {{{100}}, {asks(1, 3), asks(60, 2), holds}}, "grant 1"},
      {"exactly beside it", {{{100}}, {asks(10, 3), asks(60, 2), holds}}, "grant 1"},
      {"not if it would keep the other out once the holder is gone",
       {{{100}}, {asks(21, 3), asks(60, 2), holds}},
       "wait for 1"},
      {"not if it would keep the other out of a room that a part of the holders leave",
       {{{100}}, {asks(5, 3), asks(34, 2), holding(inside(1, 10, 90), 14), holding(inside(1, 10, 90), 8)}},
       "wait for 1 2 3"},
      {"but if no part of them leaves room for the other alone",
       {{{100}}, {asks(5, 3), asks(60, 2), holding(inside(1, 2, 90), 8), holding(inside(1, 2, 90), 41)}},
       "grant 1"},
      {"a lease that passed before counts",
       {{{100}}, {asks(6, 4), asks(60, 2), holds, with_ticket(3, holding(inside(1, 0, 9), 5))}},
       "wait for 1 2 3"},
      {"a request that can never be granted delays nobody",
       {{{100}}, {asks(10, 2), asks(85, 1), inside(1, 6, 9)}},
       "wait for 1"},
      {"on another device of the one ahead",
       {{{100}, {100}}, {on(1, asks(10, 3, 3)), asks(60, 2, 3), on(2, holding(inside(3, 10, 90), 40))}},
       "grant 1"},
      {"a stopped one is passed", {{{100}}, {asks(90, 2), stopped(exclusive(asks(0, 1)))}}, "wait for 1"},
      {"a stopped one's turn does not count", {{{100}}, {asks(80, 2), stopped(asks(80, 1))}}, "grant 1"},
  });
}

TEST(AdmissionLeasing, grants_all_devices_at_once_or_none) {
  check({
      {"both free", {{{100}, {100}}, {asks(90, 1, 3)}}, "grant 3"},
      {"one taken", {{{100}, {100}}, {asks(80, 1, 3), holding(inside(2, 10, 90), 50)}}, "wait for 1"},
      {"each taken by another",
       {{{100}, {100}}, {asks(80, 1, 3), holding(inside(2, 10, 90), 50), holding(inside(1, 10, 90), 50)}},
       "wait for 2 1"},
      {"one of its two devices is enough",
       {{{100}, {100}}, {on(1, asks(80, 1, 3)), holding(inside(2, 10, 90), 50)}},
       "grant 1"},
  });
}

TEST(AdmissionLeasing, takes_external_processes_memory_off_the_capacity) {
  check({
      {"room beside them", {{{100, 10}}, {asks(80)}}, "grant 1"},
      {"no room beside them", {{{100, 11}}, {asks(80)}}, "wait for external processes"},
      {"they and a lease", {{{100, 20}}, {asks(50), holding(inside(1, 10, 9), 20)}}, "wait for 1 external processes"},
      {"too much even without them", {{{100, 20}}, {asks(80), holding(inside(1, 10, 9), 20)}}, "wait for 1"},
  });
}

TEST(AdmissionLeasing, refuses_what_a_device_can_never_hold) {
  check({
      {"too large", {{{100}}, {asks(91)}}, "refuse 101 of 100, 1 of 1 gpus"},
      {"even behind others", {{{100}}, {asks(91, 2), asks(10, 1)}}, "refuse 101 of 100, 1 of 1 gpus"},
      {"too large for one of two", {{{200}, {100}}, {asks(91, 1, 3)}}, "refuse 101 of 100, 1 of 1 gpus"},
      {"sums that would wrap", {{{100}}, {asks(UINT64_MAX)}}, "refuse 18446744073709551615 of 100, 1 of 1 gpus"},
  });
}

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
