// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/stored_record.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace gputest::ledger {
namespace {

using policy::Stage;

Record filled() {
  Record entry;
  entry.slot = 7;
  entry.identity = 11;
  entry.claim.stage = Stage::holding;
  entry.claim.ticket = 12;
  entry.claim.candidates = 13;
  entry.claim.gpus = 2;
  entry.claim.behind = 21;
  entry.claim.overhead_bytes = 14;
  entry.claim.largest_bytes = 15;
  entry.claim.devices = 16;
  entry.claim.wanted = 17;
  entry.claim.lease_bytes = UINT64_MAX;
  entry.pid = 18;
  entry.uid = 19;
  entry.start_time = 20;
  entry.pids = UINT64_MAX - 1;
  entry.who = "suite: Sort.Keys";
  entry.since = std::chrono::system_clock::time_point{std::chrono::microseconds{1700000000123456}};
  return entry;
}

TEST(StoredRecord, cuts_a_name_that_is_too_long_and_nothing_else) {
  Record entry = filled();
  entry.who = std::string(1000, 'n');
  const auto record = to_stored(entry);
  EXPECT_EQ(record.who.back(), '\0');
  EXPECT_EQ(to_record(7, record).who, std::string(record.who.size() - 1, 'n'));
  EXPECT_EQ(to_record(7, record).start_time, entry.start_time);
}

TEST(StoredRecord, keeps_all_of_an_entry) {
  for (unsigned flags = 0; flags < 16; ++flags) {
    Record entry = filled();
    entry.claim.whole_devices = (flags & 1U) != 0;
    entry.claim.exclusive = (flags & 2U) != 0;
    entry.claim.medium_lock = (flags & 4U) != 0;
    entry.claim.estimated = (flags & 8U) != 0;
    const Record read = to_record(7, to_stored(entry));
    EXPECT_EQ(read.slot, entry.slot);
    EXPECT_EQ(read.identity, entry.identity);
    EXPECT_EQ(read.claim.stage, entry.claim.stage);
    EXPECT_EQ(read.claim.ticket, entry.claim.ticket);
    EXPECT_EQ(read.claim.behind, entry.claim.behind);
    EXPECT_EQ(read.claim.candidates, entry.claim.candidates);
    EXPECT_EQ(read.claim.gpus, entry.claim.gpus);
    EXPECT_EQ(read.claim.overhead_bytes, entry.claim.overhead_bytes);
    EXPECT_EQ(read.claim.largest_bytes, entry.claim.largest_bytes);
    EXPECT_EQ(read.claim.whole_devices, entry.claim.whole_devices);
    EXPECT_EQ(read.claim.devices, entry.claim.devices);
    EXPECT_EQ(read.claim.wanted, entry.claim.wanted);
    EXPECT_EQ(read.claim.lease_bytes, entry.claim.lease_bytes);
    EXPECT_EQ(read.claim.exclusive, entry.claim.exclusive);
    EXPECT_EQ(read.claim.medium_lock, entry.claim.medium_lock);
    EXPECT_EQ(read.claim.estimated, entry.claim.estimated);
    EXPECT_EQ(read.pid, entry.pid);
    EXPECT_EQ(read.uid, entry.uid);
    EXPECT_EQ(read.start_time, entry.start_time);
    EXPECT_EQ(read.pids, entry.pids);
    EXPECT_EQ(read.who, entry.who);
    EXPECT_EQ(read.since, entry.since);
    EXPECT_TRUE(read.alive);
  }
}

// Any process of the user can write anything into the file.

TEST(StoredRecord, with_values_that_no_gputest_writes_is_an_error) {
  const auto refused = [](auto change) {
    StoredRecord record = to_stored(filled());
    change(record);
    return tests::message_of<LedgerError>([&] { static_cast<void>(to_record(7, record)); });
  };
  const std::string said = "record 7 of the ledger has values that no gputest writes; when no GPU test is running, "
                           "remove the ledger's folder, or set GPUTEST_DIR to another one";
  for (const std::uint32_t stage : {6U, 1000U, UINT32_MAX}) {
    EXPECT_EQ(refused([&](auto& record) { record.stage = stage; }), said);
  }
  EXPECT_EQ(refused([](auto& record) { record.flags = 16; }), said);
  EXPECT_EQ(refused([](auto& record) { record.since_ns = -1; }), said);
  EXPECT_EQ(refused([](auto& record) { record.since_ns = 0; }), "done");
}

TEST(StoredRecord, of_a_process_that_waits_to_enter_is_on_no_device) {
  StoredRecord record = to_stored(filled());
  record.stage = static_cast<std::uint32_t>(Stage::entering);
  EXPECT_EQ(to_record(7, record).claim.devices, 0U);
  record.stage = static_cast<std::uint32_t>(Stage::inside);
  EXPECT_EQ(to_record(7, record).claim.devices, 16U);
}

TEST(StoredRecord, shows_a_name_as_one_line_without_control_characters) {
  StoredRecord record = to_stored(filled());
  record.who.fill('x');
  EXPECT_EQ(to_record(7, record).who, std::string(record.who.size() - 1, 'x')) << "without a terminator";
  const std::string name = "a\n\x1b[2J\x7F \xC3\xA9";
  record.who = {};
  std::copy(name.begin(), name.end(), record.who.begin());
  EXPECT_EQ(to_record(7, record).who, "a??[2J? \xC3\xA9");
}

TEST(StoredRecord, of_all_zeros_is_nobody) { EXPECT_EQ(to_record(7, StoredRecord{}).claim.stage, Stage::outside); }

} // namespace
} // namespace gputest::ledger
