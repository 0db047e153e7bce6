#include "ledger/record.hpp"

#include <algorithm>

namespace gputest::ledger {

namespace {

constexpr std::uint32_t whole_devices_flag = 1;
constexpr std::uint32_t exclusive_flag = 2;
constexpr std::uint32_t seat_flag = 4;

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
  using std::chrono::duration_cast;
  using std::chrono::system_clock;
  Entry entry;
  entry.slot = slot;
  policy::Claim& claim = entry.claim;
  claim.stage = static_cast<policy::Stage>(record.stage);
  claim.whole_devices = (record.flags & whole_devices_flag) != 0;
  claim.exclusive = (record.flags & exclusive_flag) != 0;
  claim.seat = (record.flags & seat_flag) != 0;
  claim.ticket = record.ticket;
  entry.identity = record.identity;
  claim.candidates = record.candidates;
  claim.devices = record.devices;
  claim.wanted = record.wanted;
  claim.overhead_bytes = record.overhead_bytes;
  claim.largest_bytes = record.largest_bytes;
  claim.lease_bytes = record.lease_bytes;
  entry.since =
      system_clock::time_point{duration_cast<system_clock::duration>(std::chrono::nanoseconds{record.since_ns})};
  entry.pid = record.pid;
  entry.uid = record.uid;
  claim.gpus = record.gpus;
  entry.who.assign(record.who.begin(), std::find(record.who.begin(), record.who.end(), '\0'));
  return entry;
}

} // namespace gputest::ledger
