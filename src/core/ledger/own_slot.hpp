// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/record.hpp"
#include "core/ledger/records.hpp"
#include "core/ledger/storage/slot_fifos.hpp"
#include "core/ledger/storage/slot_store.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace gputest::ledger {

/// The slot of this process on the ledger, with its FIFOs and its record. Under the store's mutex.
class OwnSlot {
public:
  OwnSlot(os::SlotStore& store, Records& records) : store_{&store}, records_{&records} {}

  /// Takes the first slot that nobody has and whose last owner's memory is back. Does nothing the second time. Throws
  /// LedgerError if there is none. Lets the mutex go for a while. Returns what `devices` showed meanwhile.
  [[nodiscard]] Observations take(std::unique_lock<os::FileLock>& guard, policy::DeviceMask devices);

  /// Whether a slot was taken, by this process or by the one that forked it.
  [[nodiscard]] bool taken() const { return static_cast<bool>(liveness_); }

  /// Whether this process is a fork of the one that took the slot, and has none of its own.
  [[nodiscard]] bool forked() const;

  /// Throws LedgerError if the place is not this process's any more: something in it has closed one of its FIFOs, or it
  /// had to give up its slot.
  void require_kept() const;

  /// Gives up both FIFOs, as if this process had ended, because it could not notify a process that has to look.
  ///
  /// The processes that have counted its claim watch the liveness FIFO. Its memory stays counted, like that of an ended
  /// process.
  void give_up(const std::string& why);

  /// What the record in the ledger says, or is about to say.
  [[nodiscard]] Record& record() { return record_; }
  [[nodiscard]] const Record& record() const { return record_; }

  /// Writes record() to the ledger. Throws as require_kept() does: the slot may be somebody else's.
  void write();

  /// Like write(), for a change of what it has held, or waited for, before: `since` stays.
  void correct();

  /// Makes record() what it was before it asked or held. Writes nothing.
  void withdraw_request();

  /// From record() being inside to being idle, and back. What notified this process before is forgotten.
  void become_idle();
  void resume();

  /// The devices of those that wait for what this process has a part of, and are behind nobody; mostly none.
  [[nodiscard]] policy::DeviceMask asked_of_own_devices() const;

  /// Whether this process, which is idle, alone keeps out one that waits, as `seen` shows.
  [[nodiscard]] bool is_in_the_way(const Observations& seen) const;

  /// Puts record() among all, in place of what the ledger says of this process; returns its position.
  [[nodiscard]] std::size_t with_own(std::vector<Record>& all) const;

  /// Throws LedgerError if others do not find the store, or this process's liveness FIFO in it, where it was.
  void require_in_place() const;

  /// That others write to in order to wake this process, or to tell it to leave when it is idle.
  [[nodiscard]] const os::WakeFifo& wake_fifo() const { return fifo_; }

  [[nodiscard]] os::SlotStore& store() { return *store_; }
  [[nodiscard]] Records& records() { return *records_; }

  /// Lets the program that this process will exec() keep the place.
  void inherit_across_exec() { liveness_.inherit_across_exec(); }

private:
  void change_stage(policy::Stage stage);

  os::SlotStore* store_;
  Records* records_;
  os::LivenessFifo liveness_; ///< from take() on
  os::WakeFifo fifo_;
  std::string why_given_up_; ///< empty before give_up()
  Record record_;
};

/// Brings the claim in own_slot.record(), which asks for something, to a result; blocks as `patience` allows, without
/// the mutex. `seen` is what the devices that it asks for showed just now.
[[nodiscard]] Result wait_for_grant(OwnSlot& own_slot, std::unique_lock<os::FileLock>& guard, const Patience& patience,
                                    Observations seen);

/// Makes the lease that the process holds one of `bytes`, more than it has, if that delays nobody. Blocks, without the
/// mutex, only for idle processes and for the memory of ended ones, for `patience.leaving_lasts` at most. `seen` is
/// what the devices of the lease showed just now.
[[nodiscard]] bool grow_lease(OwnSlot& own_slot, std::unique_lock<os::FileLock>& guard, std::uint64_t bytes,
                              Patience patience, Observations seen);

} // namespace gputest::ledger
