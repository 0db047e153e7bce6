#pragma once

#include "ledger/device_table.hpp"
#include "ledger/entry.hpp"
#include "ledger/slot_store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gputest::ledger {

/// The records of everybody on the ledger: who is there, who has ended, and who has to be woken. Under the store's
/// mutex.
class Roll {
public:
  Roll(SlotStore& store, const DeviceTable& devices, std::shared_ptr<const DeviceWitness> witness)
      : store_{&store}, devices_{&devices}, witness_{std::move(witness)} {}

  /// Everybody, as the records say; whether they live is not asked. Without their names, which decisions do not need.
  [[nodiscard]] std::vector<Entry> read() const;

  /// The same with their names, for people.
  [[nodiscard]] std::vector<Entry> read_named() const;

  /// The name in the record of a slot.
  [[nodiscard]] std::string name_of(std::size_t slot) const;

  void write(const Entry& entry);

  /// Whether the process that has this slot, or a child it forked, is alive.
  [[nodiscard]] bool lives(std::size_t slot) const;

  /// Of those whose slots are in `ended`, seen to have ended since the mutex is held: takes whose memory is back off
  /// the ledger and out of `all`; whose is not loses its place in the queue, and is marked in `all`.
  ///
  /// Wakes nobody: whom a process concerns watches its bell, and so sees the end for itself.
  void reap(std::vector<Entry>& all, const std::vector<std::size_t>& ended);

  /// What decisions need: all claims, and the capacity of the devices of interest.
  [[nodiscard]] policy::Snapshot snapshot(const std::vector<Entry>& all, policy::DeviceMask of_interest) const;

  /// Wakes those whose turn may have come: whoever changed what is claimed calls it.
  ///
  /// If it is killed before it can, its bell falls silent, and that is what those who had counted its claim watch.
  /// Throws CannotRing if one of them could not be woken: then its bell has to fall silent, too.
  void ring_heads() const;

  /// Wakes all who wait: whoever leaves a queue, or takes a slot, calls it, since those behind watched it, or the
  /// slot's last owner, and nobody else.
  void ring_all_queued() const;

private:
  SlotStore* store_;
  const DeviceTable* devices_;
  std::shared_ptr<const DeviceWitness> witness_;
};

} // namespace gputest::ledger
