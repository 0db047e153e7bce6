// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/storm/oracle.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gputest::tests::storm {
namespace {

/// Whether the oracle finds that a waiting request is delayed by a later lease, beside an earlier process of which the
/// board shows 110 bytes and the record may count `unsettled_bytes` more. On the board the request has 130 bytes to
/// spare without the later lease, and lacks 70 with it.
bool finds_a_delay(std::uint16_t unsettled_bytes) {
  const SharedBoard board;
  board->devices = 1;
  board->row_count = most_rows;
  board->processes = 3;
  for (const std::uint64_t number : {1, 2, 3}) {
    board->row_of(number).number = number;
  }
  const auto use = [](Oracle& process, std::uint16_t leased_bytes, std::uint16_t more) {
    Oracle::Uses uses{};
    uses[0].inside = true;
    uses[0].overhead_bytes = 10;
    uses[0].leased_bytes = leased_bytes;
    uses[0].unsettled_bytes = more;
    process.use(uses);
  };
  Oracle earlier{*board, 1};
  Oracle waiter{*board, 2};
  Oracle later{*board, 3};

  earlier.asks(false, 1, 100, 10);
  earlier.is_granted(1);
  use(earlier, 100, unsettled_bytes);
  use(waiter, 0, 0);
  waiter.asks(false, 1, 740, 10);
  waiter.is_queued();
  later.asks(false, 1, 200, 10);
  later.is_granted(1);
  use(later, 200, 0);
  later.look_who_is_delayed();
  waiter.is_granted(1);

  const auto delays = board->broken.at(static_cast<std::size_t>(Rule::delay)).load();
  EXPECT_EQ(board->violations(), delays) << board->first.data();
  return delays > 0;
}

TEST(StormOracle, finds_a_later_lease_that_takes_the_room_of_a_waiting_request) { EXPECT_TRUE(finds_a_delay(0)); }

TEST(StormOracle, finds_a_delay_only_if_it_is_one_by_each_figure_that_a_record_may_have) {
  EXPECT_TRUE(finds_a_delay(130));
  EXPECT_FALSE(finds_a_delay(131)); // by the larger one the request had no room anyway
}

} // namespace
} // namespace gputest::tests::storm
