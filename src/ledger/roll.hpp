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

  /// Takes those of `suspects` that have ended and whose memory is back off the ledger and out of `all`, and wakes whom
  /// that concerns. Those that have ended and whose memory is not back are marked in `all`. Whether any was taken off.
  bool reap(std::vector<Entry>& all, const std::vector<Entry>& suspects);

  /// What decisions need: all claims, and the capacity of the devices of interest.
  [[nodiscard]] policy::Snapshot snapshot(const std::vector<Entry>& all, policy::DeviceMask of_interest) const;

  /// Wakes those whose turn may have come.
  ///
  /// Whoever changed the ledger calls it. If it is killed before it can, its bell falls silent, and that is what those
  /// who had counted its claim, or waited behind it, watch.
  void ring_heads() const;

private:
  SlotStore* store_;
  const DeviceTable* devices_;
  std::shared_ptr<const DeviceWitness> witness_;
};

} // namespace gputest::ledger
