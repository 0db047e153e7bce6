#include "ledger/record.hpp"

#include <algorithm>

namespace gputest::ledger {

namespace {

constexpr std::uint32_t whole_devices_flag = 1;
constexpr std::uint32_t exclusive_flag = 2;
constexpr std::uint32_t seat_flag = 4;

policy::Stage stage_of(std::uint32_t stage) {
  constexpr auto last = static_cast<std::uint32_t>(policy::Stage::holding);
  return stage <= last ? static_cast<policy::Stage>(stage) : policy::Stage::outside;
}

} // namespace

Record to_record(const Entry& entry) {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  const policy::Claim& claim = entry.claim;
  Record record;
  record.stage = static_cast<std::uint32_t>(claim.stage);
  record.flags = (claim.whole_devices ? whole_devices_flag : 0U) | (claim.exclusive ? exclusive_flag : 0U) |
                 (claim.seat ? seat_flag : 0U);
  record.ticket = claim.ticket;
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
  const std::size_t length = std::min(entry.who.size(), record.who.size() - 1);
  std::copy_n(entry.who.begin(), length, record.who.begin());
  return record;
}

Entry to_entry(std::size_t slot, const Record& record) {
  Entry entry = to_unnamed_entry(slot, record);
  entry.who = text(record.who);
  return entry;
}

Entry to_unnamed_entry(std::size_t slot, const Record& record) {
  using std::chrono::duration_cast;
  using std::chrono::system_clock;
  Entry entry;
  entry.slot = slot;
  policy::Claim& claim = entry.claim;
  claim.stage = stage_of(record.stage);
  claim.whole_devices = (record.flags & whole_devices_flag) != 0;
  claim.exclusive = (record.flags & exclusive_flag) != 0;
  claim.seat = (record.flags & seat_flag) != 0;
  claim.ticket = record.ticket;
  entry.identity = record.identity;
  claim.candidates = record.candidates;
  // Who has ended is taken off when its devices show their memory free: one with devices that it has never been on
  // might stay for ever.
  claim.devices = claim.stage > policy::Stage::entering ? record.devices : 0;
  claim.wanted = record.wanted;
  claim.overhead_bytes = record.overhead_bytes;
  claim.largest_bytes = record.largest_bytes;
  claim.lease_bytes = record.lease_bytes;
  const std::chrono::nanoseconds since{std::max<std::int64_t>(record.since_ns, 0)};
  entry.since = system_clock::time_point{duration_cast<system_clock::duration>(since)};
  entry.pid = record.pid;
  entry.uid = record.uid;
  claim.gpus = record.gpus;
  return entry;
}

} // namespace gputest::ledger
