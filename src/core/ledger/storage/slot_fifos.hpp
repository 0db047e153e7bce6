// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/storage/file_at.hpp"

#include <gputest/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::os {

/// The FIFO that shows whether the owner of a slot lives: the owner, and each child that it forked, has it open for
/// writing until it ends.
///
/// Only the owner's user may open it for writing (mode 0640 at most). So no other user can keep it from hanging up, nor
/// make a slot look taken, whatever that user opens or locks. Nothing is ever written to it.
class LivenessFifo {
public:
  /// Takes the FIFO as this process's own, and makes it if it is not there. Returns an empty one if somebody alive has
  /// it. Not by two processes at once: under the store's mutex. Throws LedgerError.
  [[nodiscard]] static LivenessFifo take(const FileAt& fifo);

  LivenessFifo() = default;
  explicit operator bool() const { return static_cast<bool>(file_); }

  /// Throws LedgerError if something else in this process has closed it: others take its owner for dead then.
  void require_kept() const { static_cast<void>(file_.number()); }

  /// Throws LedgerError if it was removed or renamed: others do not find it, and take its owner for dead.
  void require_in_place(const FileAt& fifo) const;

  /// Lets the program that this process will exec() keep it. Throws as require_kept() does.
  void inherit_across_exec();

private:
  explicit LivenessFifo(KeptDescriptor file) : file_{std::move(file)} {}
  KeptDescriptor file_;
};

/// Whether this process has the liveness FIFO open because a process before it has let it inherit it.
[[nodiscard]] bool is_inherited(const FileAt& fifo);

/// Whether the owner of a liveness FIFO lives now. One that is not there has no owner: this user's is made again, since
/// what looks after temporary files may remove one that nobody has used for days. Throws LedgerError if it cannot be
/// opened (no descriptors left, or its folder was removed).
[[nodiscard]] bool owner_lives(const FileAt& fifo);

/// Another process that has a liveness FIFO: its owner, or one that its owner has left running. nullopt: none is found,
/// as of another user's. Takes milliseconds: for messages.
[[nodiscard]] std::optional<pid_t> process_with(const FileAt& fifo);

/// Somebody else's liveness FIFO, opened to see its owner end.
class LivenessWatch {
public:
  /// Opens it as owner_lives() does.
  explicit LivenessWatch(const FileAt& fifo);

  /// Whether its owner lives. Changes nothing. Throws LedgerError.
  [[nodiscard]] bool owner_lives() const;

  /// For poll(): hangs up when the owner has ended, if it lived when the watch was opened. -1 if the FIFO is not there.
  /// Throws LedgerError if something else in this process has closed it.
  [[nodiscard]] int number() const { return file_ ? file_.number() : -1; }

private:
  KeptDescriptor file_;
};

/// Somebody could not be woken.
class CannotNotify : public LedgerError {
public:
  using LedgerError::LedgerError;
};

/// This process's own wake-up FIFO, which others write to in order to wake it.
class WakeFifo {
public:
  /// Opens the FIFO of a slot that this process has taken, and makes it if it is not there. Throws LedgerError.
  explicit WakeFifo(const FileAt& fifo);

  WakeFifo() = default;

  /// Throws LedgerError if something else in this process has closed it: then nothing can wake this process.
  void require_kept() const { static_cast<void>(file_.number()); }

  /// Forgets earlier notifies. What notifies after this call ends a wait(). Throws as require_kept() does: what another
  /// file of the process holds is not read.
  void drain() const;

  /// Whether somebody has notified since drain(). Of another file that has its number, says anything.
  [[nodiscard]] bool is_notified() const;

  /// For poll(): readable when it is notified. Throws as require_kept() does.
  [[nodiscard]] int number() const { return file_.number(); }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

private:
  KeptDescriptor file_;
};

/// Wakes the owner of a wake-up FIFO, if it has one. Does not block; a wake-up FIFO that is full is notifying already.
///
/// Throws CannotNotify if the wake-up FIFO cannot be opened, is not there, or is no FIFO of its owner's: nothing is
/// written then. Where another user has put something else in the place of its own, nobody is woken. A process that has
/// a wake-up FIFO keeps one descriptor back, so that it can notify when it has no other left.
void notify(const FileAt& fifo);

/// What ended a wait(). Neither: the time was over, or a signal came.
struct Woken {
  bool notified = false;
  std::vector<std::size_t> ended;    ///< positions of those whose owner has ended
  std::chrono::nanoseconds slept{0}; ///< if it had a time to end at, without that in which this process was stopped
};

/// Sleeps until `own` is notified, an owner of `watched` ends, or the time is over.
///
/// Of an owner that had ended before the watch was opened it need not tell: ask owner_lives() after opening. Throws
/// LedgerError if the kernel does not let it sleep.
Woken wait(const WakeFifo& own, const std::vector<LivenessWatch>& watched, std::chrono::milliseconds at_most);

} // namespace gputest::os
