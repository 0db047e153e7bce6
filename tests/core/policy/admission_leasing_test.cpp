// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/admission.hpp"

#include "core/policy/admission_claims.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputest::policy {
namespace {

void check(const std::vector<AdmissionCase>& cases) {
  for (const auto& c : cases) {
    EXPECT_EQ(in_words(decide(c.snapshot, 0)), c.expected) << c.claim;
  }
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
      {"beside a tenth of external processes", {{{100, 10}}, {exclusive(asks(0))}}, "grant 1"},
      {"beside more of them", {{{100, 11}}, {exclusive(asks(0))}}, "wait for external processes"},
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

} // namespace
} // namespace gputest::policy
