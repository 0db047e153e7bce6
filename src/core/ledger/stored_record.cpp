// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/stored_record.hpp"

#include <gputest/error.hpp>

namespace gputest::ledger {

namespace {

constexpr std::uint32_t whole_devices_flag = 1;
constexpr std::uint32_t exclusive_flag = 2;
constexpr std::uint32_t medium_lock_flag = 4;
constexpr std::uint32_t all_flags = whole_devices_flag | exclusive_flag | medium_lock_flag;

} // namespace

StoredRecord to_record(const Record& entry) {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  const policy::Claim& claim = entry.claim;
  StoredRecord record;
  record.stage = static_cast<std::uint32_t>(claim.stage);
  record.flags = (claim.whole_devices ? whole_devices_flag : 0U) | (claim.exclusive ? exclusive_flag : 0U) |
                 (claim.medium_lock ? medium_lock_flag : 0U);
  record.ticket = claim.ticket;
  record.behind = claim.behind;
  record.identity = entry.identity;
  record.candidates = claim.candidates;
  record.devices = claim.devices;
  record.wanted = claim.wanted;
  record.overhead_bytes = claim.overhead_bytes;
  record.largest_bytes = claim.largest_bytes;
  record.lease_bytes = claim.lease_bytes;
  record.since_ns = duration_cast<nanoseconds>(entry.since.time_since_epoch()).count();
  record.pid = entry.pid;
  record.uid = entry.uid;
  record.gpus = claim.gpus;
  record.start_time = entry.start_time;
  const std::size_t length = std::min(entry.who.size(), record.who.size() - 1);
  std::copy_n(entry.who.begin(), length, record.who.begin());
  return record;
}

Record to_entry(std::size_t slot, const StoredRecord& record) {
  Record entry = to_unnamed_entry(slot, record);
  entry.who = text(record.who);
  return entry;
}

Record to_unnamed_entry(std::size_t slot, const StoredRecord& record) {
  using std::chrono::duration_cast;
  using std::chrono::system_clock;
  constexpr auto last = static_cast<std::uint32_t>(policy::Stage::idle);
  if (record.stage > last || (record.flags & ~all_flags) != 0 || record.since_ns < 0) {
    throw LedgerError{"record " + std::to_string(slot) +
                      " of the ledger has values that no gputest writes; when no GPU test is running, remove the "
                      "ledger's folder, or set GPUTEST_DIR to another one"};
  }
  Record entry;
  entry.slot = slot;
  policy::Claim& claim = entry.claim;
  claim.stage = static_cast<policy::Stage>(record.stage);
  claim.whole_devices = (record.flags & whole_devices_flag) != 0;
  claim.exclusive = (record.flags & exclusive_flag) != 0;
  claim.medium_lock = (record.flags & medium_lock_flag) != 0;
  claim.ticket = record.ticket;
  claim.behind = record.behind;
  entry.identity = record.identity;
  claim.candidates = record.candidates;
  // An ended process is removed when its devices show its memory free. One with devices that it has never been on might
  // stay for ever.
  claim.devices = claim.stage > policy::Stage::entering ? record.devices : 0;
  claim.wanted = record.wanted;
  claim.overhead_bytes = record.overhead_bytes;
  claim.largest_bytes = record.largest_bytes;
  claim.lease_bytes = record.lease_bytes;
  const std::chrono::nanoseconds since{record.since_ns};
  entry.since = system_clock::time_point{duration_cast<system_clock::duration>(since)};
  entry.pid = record.pid;
  entry.uid = record.uid;
  claim.gpus = record.gpus;
  entry.start_time = record.start_time;
  return entry;
}

} // namespace gputest::ledger
