// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace gputest::tests::storm {
namespace {

/// Two processes of a storm that tell its oracle what a ledger has let them do.
class StormOracle : public ::testing::Test {
protected:
  StormOracle() : board_{std::make_unique<Board>()} {
    board_->devices = 2;
    board_->processes = 2;
    board_->row_of(1).number = 1;
    board_->row_of(2).number = 2;
  }

  static Oracle::Uses uses(std::uint16_t overhead, std::uint16_t leased) {
    Oracle::Uses uses{};
    uses[0].inside = true;
    uses[0].overhead_bytes = overhead;
    uses[0].leased_bytes = leased;
    return uses;
  }

  [[nodiscard]] std::uint32_t broken(Rule rule) const { return board_->broken.at(static_cast<std::size_t>(rule)); }

  static void look(const Oracle& oracle) { static_cast<void>(oracle.capacity("device-0", {}, 1)); }

  static void get(Oracle& oracle, bool enters, policy::DeviceMask devices) {
    oracle.asks(enters, devices, enters ? 0 : 600);
    look(oracle);
    oracle.is_granted(devices);
  }

  std::unique_ptr<Board> board_;
  Oracle a_{*board_, 1};
  Oracle b_{*board_, 2};
};

TEST_F(StormOracle, finds_more_bytes_in_use_than_there_are) {
  a_.use(uses(100, 500));
  b_.use(uses(100, 300));
  EXPECT_EQ(board_->violations(), 0U) << board_->first.data();
  b_.use(uses(100, 301));
  EXPECT_EQ(broken(Rule::budget), 1U);
  EXPECT_EQ(board_->violations(), 1U);
}

TEST_F(StormOracle, counts_nothing_that_was_given_back) {
  a_.use(uses(100, 900));
  a_.use({});
  b_.use(uses(100, 900));
  EXPECT_EQ(board_->violations(), 0U) << board_->first.data();
}

TEST_F(StormOracle, finds_two_in_one_medium_lock) {
  auto medium_lock_holders = uses(1, 1);
  medium_lock_holders[0].medium_lock = true;
  a_.use(medium_lock_holders);
  EXPECT_EQ(board_->violations(), 0U) << board_->first.data();
  b_.use(medium_lock_holders);
  EXPECT_EQ(broken(Rule::budget), 1U);
}

TEST_F(StormOracle, finds_a_process_beside_the_holder_of_the_whole_device) {
  auto whole = uses(1, 0);
  whole[0].exclusive = true;
  a_.use(whole);
  EXPECT_EQ(board_->violations(), 0U) << board_->first.data();
  b_.use(uses(1, 0));
  EXPECT_EQ(broken(Rule::budget), 1U);
}

TEST_F(StormOracle, finds_a_later_request_that_was_granted_before_an_earlier_one) {
  a_.asks(false, 3, 600);
  look(a_);
  a_.is_queued();
  get(b_, false, 1);
  EXPECT_EQ(board_->violations(), 0U) << "a may have been granted before, and be late to say so";
  look(a_);
  a_.is_granted(3);
  EXPECT_EQ(broken(Rule::order), 1U);
}

TEST_F(StormOracle, allows_a_later_request_that_fits_beside_the_earlier_one) {
  a_.asks(false, 1, 600);
  look(a_);
  a_.is_queued();
  b_.asks(false, 1, 400);
  look(b_);
  b_.is_granted(1);
  look(a_);
  a_.is_granted(1);
  EXPECT_EQ(board_->violations(), 0U);
}

TEST_F(StormOracle, finds_a_request_that_has_no_room_only_because_of_a_later_one) {
  const auto uses_of = [](std::uint16_t leased) {
    Oracle::Uses uses{};
    uses[0].inside = true;
    uses[0].overhead_bytes = 10;
    uses[0].leased_bytes = leased;
    return uses;
  };
  a_.use(uses_of(0));
  b_.use(uses_of(0));
  a_.asks(false, 1, 600);
  look(a_);
  a_.is_queued();
  b_.asks(false, 1, 390);
  look(b_);
  b_.is_granted(1);
  b_.use(uses_of(390));
  b_.look_who_is_delayed();
  EXPECT_EQ(board_->violations(), 0U) << "the one that is delayed is the judge";
  b_.use(uses_of(0));
  b_.ends();
  look(a_);
  a_.is_granted(1);
  EXPECT_EQ(board_->broken.at(static_cast<std::size_t>(Rule::delay)), 1U);
}

TEST_F(StormOracle, finds_it_too_where_the_later_one_is_late_to_say_so) {
  a_.asks(false, 3, 600);
  look(a_);
  a_.is_queued();
  b_.asks(false, 1, 600);
  look(b_);
  look(a_);
  a_.is_granted(3);
  EXPECT_EQ(board_->violations(), 0U) << board_->first.data();
  b_.is_granted(1);
  EXPECT_EQ(broken(Rule::order), 1U);
}

TEST_F(StormOracle, lets_a_request_be_granted_that_asked_before_the_other_was_queued) {
  a_.asks(false, 1);
  look(a_);
  b_.asks(false, 1);
  a_.is_queued();
  look(b_);
  b_.is_granted(1);
  look(a_);
  a_.is_granted(1);
  EXPECT_EQ(board_->violations(), 0U) << board_->first.data();
}

TEST_F(StormOracle, lets_the_first_in_the_queue_say_late_that_it_was_granted) {
  a_.asks(false, 1);
  look(a_);
  a_.is_queued();
  look(a_); // the look that grants
  get(b_, false, 1);
  a_.is_granted(1);
  EXPECT_EQ(board_->violations(), 0U) << board_->first.data();
}

TEST_F(StormOracle, keeps_apart_the_queues_and_the_devices) {
  a_.asks(false, 1);
  look(a_);
  a_.is_queued();
  get(b_, true, 1);
  get(b_, false, 2);
  look(a_);
  a_.is_granted(1);
  EXPECT_EQ(board_->violations(), 0U) << board_->first.data();
}

TEST_F(StormOracle, finds_a_request_that_is_passed_by_more_grants_than_there_are_processes) {
  a_.asks(false, 1);
  b_.asks(false, 1); // as if it had asked for all of them before a was queued
  a_.is_queued();
  for (int grants = 0; grants < 3; ++grants) {
    look(b_);
    b_.is_granted(1);
  }
  look(a_);
  a_.is_granted(1);
  EXPECT_EQ(broken(Rule::bound), 1U);
  EXPECT_EQ(board_->most_passed, 3U);
}

TEST_F(StormOracle, shows_memory_as_back_once_its_process_does_not_use_it_or_another_has_its_row) {
  ledger::Record entry;
  entry.who = "1";
  a_.use(uses(1, 1));
  EXPECT_FALSE(b_.is_back("device-0", entry));
  EXPECT_TRUE(b_.is_back("device-1", entry)) << "it never used that one";
  board_->row_of(1).number = 1 + most_rows;
  EXPECT_TRUE(b_.is_back("device-0", entry));
  board_->row_of(1).number = 1;
  a_.use({});
  EXPECT_TRUE(b_.is_back("device-0", entry));
}

} // namespace
} // namespace gputest::tests::storm
