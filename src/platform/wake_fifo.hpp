#pragma once

#include "platform/file_at.hpp"
#include "platform/kept_descriptor.hpp"

#include <gputest/error.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace gputest::platform {

/// Somebody could not be woken.
class CannotNotify : public LedgerError {
public:
  using LedgerError::LedgerError;
};

/// The FIFO of one slot: locked as long as its owner, or a child the owner forked, lives; notified to wake the owner.
class WakeFifo {
public:
  /// Takes the FIFO as this process's own, and makes it if it is not there. Returns an empty one if somebody alive has
  /// it. Throws LedgerError.
  static WakeFifo take(const FileAt& fifo);

  WakeFifo() = default;
  explicit operator bool() const { return static_cast<bool>(file_); }

  /// Throws LedgerError if something else in this process has closed the wake-up FIFO: others take its owner for dead
  /// then.
  void require_kept() const { static_cast<void>(file_.number()); }

  /// Forgets earlier notifies. What notifies after this call ends a wait(). Throws as require_kept() does: what another
  /// file of the process holds is not read.
  void drain() const;

  /// Lets the program that this process will exec() keep the wake-up FIFO. Throws as require_kept() does.
  void inherit_across_exec() const;

  [[nodiscard]] int number() const { return file_.number(); } ///< throws as require_kept() does
  [[nodiscard]] const std::string& path() const { return file_.path(); }

private:
  explicit WakeFifo(KeptDescriptor file) : file_{std::move(file)} {}
  KeptDescriptor file_;
};

/// Somebody else's wake-up FIFO, opened to see its owner end.
class LivenessWatch {
public:
  /// Throws LedgerError if it cannot be opened (no descriptors left). A FIFO that is not there has no owner: this
  /// user's is made again, since what looks after temporary files may remove one that nobody has used for days.
  explicit LivenessWatch(const FileAt& fifo);

  /// Whether its owner lives. Probes the lock: who takes a wake-up FIFO just then may find it taken, and tries the
  /// next.
  [[nodiscard]] bool owner_lives() const;

  /// -1 if the FIFO is not there. Throws LedgerError if something else in this process has closed it.
  [[nodiscard]] int number() const { return file_ ? file_.number() : -1; }

private:
  KeptDescriptor file_;
};

/// Wakes the owner of a wake-up FIFO, if it has one. Does not block; a wake-up FIFO that is full is notifying already.
///
/// Throws CannotNotify if the wake-up FIFO cannot be opened, is not there, or is no FIFO of its owner's: nothing is
/// written then. Where another user has put something else in the place of its own, nobody is woken. A process that has
/// taken a wake-up FIFO keeps one descriptor back, so that it can notify when it has no other left.
void notify(const FileAt& fifo);

/// What ended a wait(). Neither: the time was over, or a signal came.
struct Woken {
  bool notified = false;
  std::vector<std::size_t> ended; ///< positions of those whose owner has ended
};

/// Sleeps until `own` is notified, an owner of `watched` ends, or the time is over.
///
/// Of an owner that had ended before the watch was opened it need not tell: ask owner_lives() after opening. Throws
/// LedgerError if the kernel does not let it sleep.
Woken wait(const WakeFifo& own, const std::vector<LivenessWatch>& watched, std::chrono::milliseconds at_most);

} // namespace gputest::platform
