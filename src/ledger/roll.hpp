#pragma once

#include "ledger/device_table.hpp"
#include "ledger/entry.hpp"
#include "ledger/slot_store.hpp"

#include <memory>
#include <vector>

namespace gputest::ledger {

/// The records of everybody on the ledger: who is there, who has ended, and who has to be woken. Under the store's
/// mutex.
class Roll {
public:
  Roll(SlotStore& store, const DeviceTable& devices, std::shared_ptr<const DeviceWitness> witness)
      : store_{&store}, devices_{&devices}, witness_{std::move(witness)} {}

  /// Everybody, as the records say; whether they live is not asked.
  [[nodiscard]] std::vector<Entry> read() const;

  void write(const Entry& entry);

  /// Whether the process that has this slot, or a child it forked, is alive.
  [[nodiscard]] bool lives(std::size_t slot) const;

  /// Those of `slots` whose process has ended.
  [[nodiscard]] std::vector<std::size_t> ended_among(const std::vector<std::size_t>& slots) const;

  /// Takes those in `slots` that have ended and whose memory is back off the ledger and out of `all`. Those that have
  /// ended and whose memory is not back lose their place in the queue, and are marked in `all`.
  ///
  /// Wakes nobody: whom a process concerns watches its bell, and so sees the end for itself.
  void reap(std::vector<Entry>& all, const std::vector<std::size_t>& slots);

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
