#include "ledger/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace gputest::ledger {
namespace {

using policy::Stage;

Entry filled() {
  Entry entry;
  entry.slot = 7;
  entry.identity = 11;
  entry.claim.stage = Stage::holding;
  entry.claim.ticket = 12;
  entry.claim.candidates = 13;
  entry.claim.gpus = 2;
  entry.claim.overhead_bytes = 14;
  entry.claim.largest_bytes = 15;
  entry.claim.devices = 16;
  entry.claim.wanted = 17;
  entry.claim.lease_bytes = UINT64_MAX;
  entry.pid = 18;
  entry.uid = 19;
  entry.who = "suite: Sort.Keys";
  entry.since = std::chrono::system_clock::time_point{std::chrono::microseconds{1700000000123456}};
  return entry;
}

TEST(Record, keeps_all_of_an_entry) {
  for (unsigned flags = 0; flags < 8; ++flags) {
    Entry entry = filled();
    entry.claim.whole_devices = (flags & 1U) != 0;
    entry.claim.exclusive = (flags & 2U) != 0;
    entry.claim.seat = (flags & 4U) != 0;
    const Entry read = to_entry(7, to_record(entry));
    EXPECT_EQ(read.slot, entry.slot);
    EXPECT_EQ(read.identity, entry.identity);
    EXPECT_EQ(read.claim.stage, entry.claim.stage);
    EXPECT_EQ(read.claim.ticket, entry.claim.ticket);
    EXPECT_EQ(read.claim.candidates, entry.claim.candidates);
    EXPECT_EQ(read.claim.gpus, entry.claim.gpus);
    EXPECT_EQ(read.claim.overhead_bytes, entry.claim.overhead_bytes);
    EXPECT_EQ(read.claim.largest_bytes, entry.claim.largest_bytes);
    EXPECT_EQ(read.claim.whole_devices, entry.claim.whole_devices);
    EXPECT_EQ(read.claim.devices, entry.claim.devices);
    EXPECT_EQ(read.claim.wanted, entry.claim.wanted);
    EXPECT_EQ(read.claim.lease_bytes, entry.claim.lease_bytes);
    EXPECT_EQ(read.claim.exclusive, entry.claim.exclusive);
    EXPECT_EQ(read.claim.seat, entry.claim.seat);
    EXPECT_EQ(read.pid, entry.pid);
    EXPECT_EQ(read.uid, entry.uid);
    EXPECT_EQ(read.who, entry.who);
    EXPECT_EQ(read.since, entry.since);
    EXPECT_TRUE(read.alive);
  }
}

TEST(Record, cuts_a_name_that_is_too_long) {
  Entry entry = filled();
  entry.who = std::string(1000, 'x');
  EXPECT_EQ(to_entry(7, to_record(entry)).who, std::string(159, 'x'));
}

// The file is everybody's: any process can write anything into it.

TEST(Record, of_a_stage_that_there_is_not_is_outside_and_on_no_device) {
  for (const std::uint32_t stage : {5U, 1000U, UINT32_MAX}) {
    Record record = to_record(filled());
    record.stage = stage;
    const Entry read = to_entry(7, record);
    EXPECT_EQ(read.claim.stage, Stage::outside) << stage;
    EXPECT_EQ(read.claim.devices, 0U) << stage;
  }
}

TEST(Record, of_who_waits_to_enter_is_on_no_device) {
  Record record = to_record(filled());
  record.stage = static_cast<std::uint32_t>(Stage::entering);
  EXPECT_EQ(to_entry(7, record).claim.devices, 0U);
  record.stage = static_cast<std::uint32_t>(Stage::inside);
  EXPECT_EQ(to_entry(7, record).claim.devices, 16U);
}

TEST(Record, of_a_time_before_1970_is_read_as_one_that_can_be_taken_off_now) {
  Record record = to_record(filled());
  for (const std::int64_t since : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}}) {
    record.since_ns = since;
    EXPECT_EQ(to_entry(7, record).since, std::chrono::system_clock::time_point{}) << since;
  }
}

TEST(Record, shows_a_name_as_one_line_without_control_characters) {
  Record record = to_record(filled());
  record.who.fill('x');
  EXPECT_EQ(to_entry(7, record).who, std::string(159, 'x')) << "without a terminator";
  const std::string name = "a\n\x1b[2J\x7F \xC3\xA9";
  record.who = {};
  std::copy(name.begin(), name.end(), record.who.begin());
  EXPECT_EQ(to_entry(7, record).who, "a??[2J? \xC3\xA9");
}

TEST(Record, of_all_zeros_is_nobody) { EXPECT_EQ(to_entry(7, Record{}).claim.stage, Stage::outside); }

} // namespace
} // namespace gputest::ledger
