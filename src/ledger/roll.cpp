#include "ledger/roll.hpp"

#include "ledger/record.hpp"
#include "system/bell.hpp"

#include <algorithm>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;

std::vector<Entry> Roll::read() const {
  std::vector<Entry> all;
  for (std::size_t slot = 0; slot < store_->slots(); ++slot) {
    // The stage comes first in a record: a look at an empty slot costs one word.
    if (store_->read<std::uint32_t>(slot) != 0) {
      all.push_back(to_entry(slot, store_->read<Record>(slot)));
    }
  }
  return all;
}

void Roll::write(const Entry& entry) { store_->write(entry.slot, to_record(entry)); }

bool Roll::lives(std::size_t slot) const { return system::BellWatch{store_->bell(slot)}.owner_lives(); }

bool Roll::reap(std::vector<Entry>& all, const std::vector<Entry>& suspects) {
  bool reaped = false;
  for (const auto& suspect : suspects) {
    const auto entry = std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.slot == suspect.slot; });
    if (entry == all.end() || lives(suspect.slot)) {
      continue;
    }
    entry->alive = false;
    bool back = true;
    for_each_device(entry->claim.devices, [&](std::size_t index) {
      back = back && witness_->is_back(devices_->uuid(index), *entry, all, DeviceMask{1} << index);
    });
    if (back) {
      store_->write(entry->slot, Record{});
      all.erase(entry);
      reaped = true;
    } else if (entry->claim.stage == Stage::waiting) {
      // The dead keep their memory for a moment, but not their place in the queue.
      entry->claim.stage = Stage::inside;
      write(*entry);
      reaped = true;
    }
  }
  if (reaped) {
    ring_heads();
  }
  return reaped;
}

policy::Snapshot Roll::snapshot(const std::vector<Entry>& all, DeviceMask of_interest) const {
  policy::Snapshot snapshot;
  for_each_device(of_interest, [&](std::size_t index) {
    snapshot.devices.resize(index + 1);
    snapshot.devices[index] = witness_->capacity(devices_->uuid(index), all, DeviceMask{1} << index);
  });
  for (const auto& entry : all) {
    snapshot.claims.push_back(entry.claim);
  }
  return snapshot;
}

void Roll::ring_heads() const {
  const auto all = read();
  for (const std::size_t head : policy::heads(snapshot(all, 0))) {
    system::ring(store_->bell(all[head].slot));
  }
}

} // namespace gputest::ledger
