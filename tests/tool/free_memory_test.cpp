// SPDX-License-Identifier: BSD-3-Clause
#include "tool/free_memory.hpp"

#include <gputest/bytes.hpp>

#include <gtest/gtest.h>

namespace gputest::tool {

namespace {

using namespace gputest::literals; // NOLINT(google-build-using-namespace)
using policy::Claim;
using policy::Snapshot;
using policy::Stage;

Snapshot device_of(Bytes total, Bytes external = Bytes{}) {
  Snapshot snapshot;
  snapshot.devices = {{total.count(), external.count()}};
  return snapshot;
}

Claim holder_of(Bytes bytes, Bytes largest) {
  Claim claim;
  claim.stage = Stage::holding;
  claim.ticket = 1;
  claim.devices = 1;
  claim.wanted = 1;
  claim.overhead_bytes = (1_GiB).count();
  claim.largest_bytes = largest.count();
  claim.lease_bytes = bytes.count();
  return claim;
}

std::uint64_t free_bytes(const Snapshot& snapshot) { return free_bytes_for_next(snapshot, 0, (1_GiB).count()); }

} // namespace

TEST(FreeMemory, of_an_empty_device_is_all_but_the_context_of_the_next_process) {
  EXPECT_EQ(free_bytes(device_of(16_GiB)), (15_GiB).count());
}

TEST(FreeMemory, leaves_out_what_others_hold_with_their_contexts) {
  auto snapshot = device_of(16_GiB);
  snapshot.claims = {holder_of(4_GiB, 4_GiB)};
  EXPECT_EQ(free_bytes(snapshot), (10_GiB).count());
}

TEST(FreeMemory, counts_what_idle_processes_give_up_for_the_next) {
  auto snapshot = device_of(16_GiB);
  auto idle = holder_of(Bytes{}, 4_GiB);
  idle.stage = Stage::idle;
  idle.wanted = 0;
  snapshot.claims = {idle};
  EXPECT_EQ(free_bytes(snapshot), (15_GiB).count());
  auto second = holder_of(4_GiB, 4_GiB);
  second.ticket = 2;
  snapshot.claims.push_back(second);
  EXPECT_EQ(free_bytes(snapshot), (10_GiB).count());
}

TEST(FreeMemory, is_that_of_the_device_that_is_asked_for) {
  auto snapshot = device_of(16_GiB);
  snapshot.devices.push_back({(8_GiB).count(), (2_GiB).count()});
  snapshot.claims = {holder_of(4_GiB, 4_GiB)};
  EXPECT_EQ(free_bytes_for_next(snapshot, 0, (1_GiB).count()), (10_GiB).count());
  EXPECT_EQ(free_bytes_for_next(snapshot, 1, (1_GiB).count()), (5_GiB).count());
  EXPECT_EQ(free_bytes_for_next(snapshot, 1, 0), (6_GiB).count()) << "to the last byte";
  EXPECT_EQ(free_bytes_for_next(device_of(16_GiB), 0, 0), (16_GiB).count());
  EXPECT_EQ(free_bytes_for_next(device_of(1_GiB), 0, (2_GiB).count()), 0U);
}

TEST(FreeMemory, leaves_out_what_external_processes_hold) {
  EXPECT_EQ(free_bytes(device_of(16_GiB, 6_GiB)), (9_GiB).count());
}

TEST(FreeMemory, is_nothing_while_somebody_has_the_whole_device) {
  auto snapshot = device_of(16_GiB);
  snapshot.claims = {holder_of(1_GiB, 1_GiB)};
  snapshot.claims[0].exclusive = true;
  EXPECT_EQ(free_bytes(snapshot), 0U);
}

TEST(FreeMemory, is_nothing_while_others_wait_in_front) {
  auto snapshot = device_of(16_GiB);
  snapshot.claims = {holder_of(1_GiB, 1_GiB), Claim{}};
  snapshot.claims[1].stage = Stage::entering;
  snapshot.claims[1].ticket = 2;
  snapshot.claims[1].candidates = 1;
  EXPECT_EQ(free_bytes(snapshot), 0U);
}

TEST(FreeMemory, is_nothing_where_one_more_context_could_keep_another_test_waiting_for_ever) {
  auto snapshot = device_of(16_GiB);
  snapshot.claims = {holder_of(1_GiB, 15_GiB)};
  EXPECT_EQ(free_bytes(snapshot), 0U);
}

} // namespace gputest::tool
