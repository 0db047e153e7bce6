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
  const Capacity one{100, 0, true};
  check({
      {"the first", {{one}, {entering(1, 1, 10, 5)}}, "grant 1"},
      {"the second", {{one}, {entering(1, 1, 10, 5), inside(1, 10, 5)}}, "wait for 1"},
      {"who waits to enter is not inside", {{one}, {entering(1, 1, 10, 5), entering(2, 1, 10, 5)}}, "grant 1"},
      {"another device", {{one, {50}}, {entering(1, 3, 10, 5), inside(1, 10, 5)}}, "grant 2"},
      {"two of them", {{one, one}, {entering(1, 3, 10, 5, 2), inside(2, 10, 5)}}, "wait for 1"},
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

TEST(AdmissionEntering, takes_external_processes_memory_off_the_capacity) {
  check({
      {"room beside them", {{{100, 40}}, {entering(1, 1, 10, 50)}}, "grant 1"},
      {"no room beside them", {{{100, 41}}, {entering(1, 1, 10, 50)}}, "wait for external processes"},
      {"they are not why", {{{100, 1}}, {entering(1, 1, 50, 50), inside(1, 10, 5)}}, "wait for 1"},
      {"they and others", {{{100, 20}}, {entering(1, 1, 50, 30), inside(1, 10, 5)}}, "wait for 1 external processes"},
      {"more than there is", {{{100, 900}}, {entering(1, 1, 1, 1)}}, "wait for external processes"},
      {"more than there is leaves the least room", {{{100, 900}, {100, 90}}, {entering(1, 3, 0, 0)}}, "grant 2"},
      {"a tenth leaves a whole device", {{{100, 10}}, {whole(entering(1, 1, 10, 0))}}, "grant 1"},
      {"more than a tenth does not", {{{100, 11}}, {whole(entering(1, 1, 10, 0))}}, "wait for external processes"},
      {"another device has none", {{{100, 11}, {90}}, {whole(entering(1, 3, 10, 0))}}, "grant 2"},
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

TEST(AdmissionEntering, takes_preferred_devices_if_its_lease_has_room_there) {
  const auto preferring = [](DeviceMask devices, Claim claim) {
    claim.preferred = devices;
    return claim;
  };
  check({
      {"though another has more room", {{{50}, {100}}, {preferring(1, entering(1, 3, 10, 40))}}, "grant 1"},
      {"not if the lease would have to wait",
       {{{50}, {100}}, {preferring(1, entering(1, 3, 10, 31)), holding(inside(1, 5, 5), 5)}},
       "grant 2"},
      {"not if it is no candidate", {{{100}, {100}}, {preferring(1, entering(1, 2, 10, 40))}}, "grant 2"},
      {"as far as they go", {{{50}, {100}, {100}}, {preferring(1, entering(1, 7, 10, 40, 2))}}, "grant 3"},
  });
}

} // namespace
} // namespace gputest::policy
