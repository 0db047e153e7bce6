// SPDX-License-Identifier: BSD-3-Clause
#include "tool/free_memory.hpp"

#include <gputest/bytes.hpp>

#include <gtest/gtest.h>

#include <vector>

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

} // namespace

TEST(FreeMemory, is_what_the_next_process_gets_without_a_wait) {
  const auto idle = [] {
    auto claim = holder_of(Bytes{}, 4_GiB);
    claim.stage = Stage::idle;
    claim.wanted = 0;
    return claim;
  }();
  auto exclusive = holder_of(1_GiB, 1_GiB);
  exclusive.exclusive = true;
  Claim entering;
  entering.stage = Stage::entering;
  entering.ticket = 2;
  entering.candidates = 1;
  struct Row {
    const char* what;
    Bytes external;
    std::vector<Claim> claims;
    Bytes expected;
  };
  const std::vector<Row> rows{
      {"all but the context of the next process", 0_B, {}, 15_GiB},
      {"without what others hold with their contexts", 0_B, {holder_of(4_GiB, 4_GiB)}, 10_GiB},
      {"with what idle processes give up", 0_B, {idle}, 15_GiB},
      {"with what idle processes give up beside a holder", 0_B, {idle, holder_of(4_GiB, 4_GiB)}, 10_GiB},
      {"without what external processes hold", 6_GiB, {}, 9_GiB},
      {"nothing while somebody has the whole device", 0_B, {exclusive}, 0_B},
      {"nothing while others wait in front", 0_B, {holder_of(1_GiB, 1_GiB), entering}, 0_B},
      {"nothing where one more context could keep another test waiting for ever", 0_B, {holder_of(1_GiB, 15_GiB)}, 0_B},
  };
  for (const auto& row : rows) {
    auto snapshot = device_of(16_GiB, row.external);
    snapshot.claims = row.claims;
    EXPECT_EQ(free_bytes_for_next(snapshot, 0, (1_GiB).count()), row.expected.count()) << row.what;
  }
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

} // namespace gputest::tool
