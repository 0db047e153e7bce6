// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/stored_record.hpp"

#include <gputest/error.hpp>

namespace gputest::ledger {

namespace {

constexpr std::uint32_t whole_devices_flag = 1;
constexpr std::uint32_t exclusive_flag = 2;
constexpr std::uint32_t medium_lock_flag = 4;
constexpr std::uint32_t estimated_flag = 8;
constexpr std::uint32_t all_flags = whole_devices_flag | exclusive_flag | medium_lock_flag | estimated_flag;

} // namespace

StoredRecord to_stored(const Record& record) {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  const policy::Claim& claim = record.claim;
  StoredRecord stored;
  stored.stage = static_cast<std::uint32_t>(claim.stage);
  stored.flags = (claim.whole_devices ? whole_devices_flag : 0U) | (claim.exclusive ? exclusive_flag : 0U) |
                 (claim.medium_lock ? medium_lock_flag : 0U) | (claim.estimated ? estimated_flag : 0U);
  stored.ticket = claim.ticket;
  stored.behind = claim.behind;
  stored.identity = record.identity;
  stored.candidates = claim.candidates;
  stored.devices = claim.devices;
  stored.wanted = claim.wanted;
  stored.overhead_bytes = claim.overhead_bytes;
  stored.largest_bytes = claim.largest_bytes;
  stored.lease_bytes = claim.lease_bytes;
  stored.since_ns = duration_cast<nanoseconds>(record.since.time_since_epoch()).count();
  stored.pid = record.pid;
  stored.uid = record.uid;
  stored.gpus = claim.gpus;
  stored.start_time = record.start_time;
  stored.pids = record.pids;
  const std::size_t length = std::min(record.who.size(), stored.who.size() - 1);
  std::copy_n(record.who.begin(), length, stored.who.begin());
  return stored;
}

Record to_record(std::size_t slot, const StoredRecord& stored) {
  Record record = to_unnamed_record(slot, stored);
  record.who = text(stored.who);
  return record;
}

Record to_unnamed_record(std::size_t slot, const StoredRecord& stored) {
  using std::chrono::duration_cast;
  using std::chrono::system_clock;
  constexpr auto last = static_cast<std::uint32_t>(policy::Stage::idle);
  if (stored.stage > last || (stored.flags & ~all_flags) != 0 || stored.since_ns < 0) {
    throw LedgerError{"record " + std::to_string(slot) +
                      " of the ledger has values that no gputest writes; when no GPU test is running, remove the "
                      "ledger's folder, or set GPUTEST_DIR to another one"};
  }
  Record record;
  record.slot = slot;
  policy::Claim& claim = record.claim;
  claim.stage = static_cast<policy::Stage>(stored.stage);
  claim.whole_devices = (stored.flags & whole_devices_flag) != 0;
  claim.exclusive = (stored.flags & exclusive_flag) != 0;
  claim.medium_lock = (stored.flags & medium_lock_flag) != 0;
  claim.estimated = (stored.flags & estimated_flag) != 0;
  claim.ticket = stored.ticket;
  claim.behind = stored.behind;
  record.identity = stored.identity;
  claim.candidates = stored.candidates;
  // An ended process is removed when its devices show its memory free. One with devices that it has never been on might
  // stay for ever.
  claim.devices = claim.stage > policy::Stage::entering ? stored.devices : 0;
  claim.wanted = stored.wanted;
  claim.overhead_bytes = stored.overhead_bytes;
  claim.largest_bytes = stored.largest_bytes;
  claim.lease_bytes = stored.lease_bytes;
  const std::chrono::nanoseconds since{stored.since_ns};
  record.since = system_clock::time_point{duration_cast<system_clock::duration>(since)};
  record.pid = stored.pid;
  record.uid = stored.uid;
  claim.gpus = stored.gpus;
  record.start_time = stored.start_time;
  record.pids = stored.pids;
  return record;
}

} // namespace gputest::ledger
