#pragma once

#include "ledger/entry.hpp"
#include "ledger/result.hpp"
#include "ledger/roll.hpp"
#include "ledger/slot_store.hpp"
#include "ledger/watches.hpp"
#include "system/bell.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace gputest::ledger {

/// This process's own place on the ledger: its slot and bell, its record, and waiting in it. Under the store's mutex.
class Place {
public:
  Place(SlotStore& store, Roll& roll);

  /// Takes the first slot that nobody has and whose last owner's memory is back. Does nothing the second time. Throws
  /// LedgerError if there is none.
  void take();

  /// Whether a slot was taken, by this process or by the one that forked it.
  [[nodiscard]] bool taken() const { return static_cast<bool>(bell_); }

  /// Whether this process is a fork of the one that took the slot, and has none of its own.
  [[nodiscard]] bool forked() const;

  /// Throws LedgerError if the place is not this process's any more: something in it has closed the bell, or it had to
  /// fall silent.
  void require_kept() const;

  /// Lets the bell go, as if this process had ended, because it could not wake somebody who has to look.
  ///
  /// Whoever has counted its claim sees the bell go. Its memory stays counted as that of the dead does.
  void fall_silent(const std::string& why);

  /// What the record says, or is about to say.
  [[nodiscard]] Entry& own() { return own_; }
  [[nodiscard]] const Entry& own() const { return own_; }

  /// Makes the record say what own() says, from now on. Throws as require_kept() does: the slot may be somebody else's.
  void write();

  /// The same of a change after which what it holds, or waits for, is what it was before.
  void correct();

  /// Brings the claim in own(), which asks for something, to a result; blocks as `patience` allows, without the mutex.
  [[nodiscard]] Result settle(std::unique_lock<system::FileLock>& guard, const Patience& patience);

  /// Turns own() from asking or holding back to what it was before.
  void stop_wanting();

  /// Puts own() among all, in place of what its record says; returns its position.
  [[nodiscard]] std::size_t with_own(std::vector<Entry>& all) const;

  /// Everybody else on these devices.
  [[nodiscard]] Blocked others_on(policy::DeviceMask devices) const;

  /// Lets the program that this process will exec() keep the place.
  void inherit_across_exec() const;

private:
  struct Look;

  [[nodiscard]] Look look(std::vector<Entry> all, const std::vector<std::size_t>& ended) const;
  [[nodiscard]] Blocked for_people(Blocked blocked) const;
  [[nodiscard]] system::Woken sleep(const Look& seen, Watches& watches,
                                    std::chrono::steady_clock::time_point until) const;

  SlotStore* store_;
  Roll* roll_;
  system::Bell bell_;      ///< locked from take() on
  std::string why_silent_; ///< empty before fall_silent()
  Entry own_;
};

} // namespace gputest::ledger
