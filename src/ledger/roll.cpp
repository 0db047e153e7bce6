#include "ledger/roll.hpp"

#include "ledger/record.hpp"
#include "system/bell.hpp"

#include <algorithm>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;

namespace {

/// The entries in the stages that `wanted` accepts. The stage comes first in a record: others cost the look at one
/// word.
template <class Predicate>
std::vector<Entry> read_where(const SlotStore& store, Predicate wanted) {
  std::vector<Entry> entries;
  const std::size_t used = store.used_slots();
  for (std::size_t slot = 0; slot < used; ++slot) {
    if (wanted(static_cast<Stage>(store.read<std::uint32_t>(slot)))) {
      entries.push_back(to_entry(slot, store.read<Record>(slot)));
    }
  }
  return entries;
}

} // namespace

std::vector<Entry> Roll::read() const {
  return read_where(*store_, [](Stage stage) { return stage != Stage::outside; });
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
    for_each_device(entry->claim.devices,
                    [&](std::size_t index) { back = back && witness_->is_back(devices_->uuid(index), *entry); });
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
  const auto queued =
      read_where(*store_, [](Stage stage) { return stage == Stage::entering || stage == Stage::waiting; });
  for (const std::size_t head : policy::heads(snapshot(queued, 0))) {
    system::ring(store_->bell(queued[head].slot));
  }
}

} // namespace gputest::ledger
