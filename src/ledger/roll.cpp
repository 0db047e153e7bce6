#include "ledger/roll.hpp"

#include "ledger/record.hpp"
#include "policy/queues.hpp"
#include "system/bell.hpp"

#include <algorithm>
#include <optional>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;

namespace {

/// The entries in the stages that `wanted` accepts, as `read` makes them of records. The stage comes first in a record:
/// others cost the look at one word.
template <class Predicate>
std::vector<Entry> read_where(const SlotStore& store, Predicate wanted,
                              Entry (*read)(std::size_t, const Record&) = to_unnamed_entry) {
  std::vector<Entry> entries;
  const std::size_t used = store.used_slots();
  entries.reserve(used);
  for (std::size_t slot = 0; slot < used; ++slot) {
    if (wanted(static_cast<Stage>(store.read<std::uint32_t>(slot)))) {
      entries.push_back(read(slot, store.read<Record>(slot)));
    }
  }
  return entries;
}

bool is_there(Stage stage) { return stage != Stage::outside; }

std::vector<Entry> read_queued(const SlotStore& store) {
  return read_where(store, [](Stage stage) { return stage == Stage::entering || stage == Stage::waiting; });
}

/// Rings all that can be rung before it throws for one that cannot.
void ring_those(const SlotStore& store, const std::vector<Entry>& entries) {
  std::optional<system::CannotRing> not_rung;
  for (const auto& entry : entries) {
    try {
      system::ring(store.bell(entry.slot));
    } catch (const system::CannotRing& error) {
      not_rung = error;
    }
  }
  if (not_rung) {
    throw system::CannotRing{*not_rung};
  }
}

} // namespace

std::vector<Entry> Roll::read() const { return read_where(*store_, is_there); }

std::vector<Entry> Roll::read_named() const { return read_where(*store_, is_there, to_entry); }

std::string Roll::name_of(std::size_t slot) const { return text(store_->read<Record>(slot).who); }

void Roll::write(const Entry& entry) { store_->write(entry.slot, to_record(entry)); }

bool Roll::lives(std::size_t slot) const { return system::BellWatch{store_->bell(slot)}.owner_lives(); }

void Roll::reap(std::vector<Entry>& all, const std::vector<std::size_t>& ended) {
  for (const std::size_t slot : ended) {
    const auto entry = std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.slot == slot; });
    if (entry == all.end()) {
      continue;
    }
    entry->who = name_of(slot); // for the witness, and to stay in the record
    bool back = true;
    for_each_device(entry->claim.devices, [&](std::size_t index) {
      const std::string uuid = devices_->uuid(index);
      back = back && (uuid.empty() || witness_->is_back(uuid, *entry)); // no device: nothing that could be out
    });
    if (back) {
      store_->write(entry->slot, Record{});
      all.erase(entry);
      continue;
    }
    entry->alive = false;
    if (entry->claim.stage == Stage::waiting) {
      entry->claim.stage = Stage::inside;
      write(*entry);
    }
  }
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
  const auto queued = read_queued(*store_);
  std::vector<Entry> heads;
  for (const std::size_t head : policy::heads(snapshot(queued, 0))) {
    heads.push_back(queued[head]);
  }
  ring_those(*store_, heads);
}

void Roll::ring_all_queued() const { ring_those(*store_, read_queued(*store_)); }

} // namespace gputest::ledger
