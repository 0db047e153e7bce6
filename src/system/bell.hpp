#pragma once

#include "system/descriptor.hpp"
#include "system/kept_descriptor.hpp"

#include <gputest/error.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace gputest::system {

/// Somebody could not be woken.
class CannotRing : public LedgerError {
public:
  using LedgerError::LedgerError;
};

/// The FIFO of one slot: locked as long as its owner, or a child the owner forked, lives; rung to wake the owner.
class Bell {
public:
  /// Makes the FIFO. Throws LedgerError.
  static void create(const std::string& path);

  /// Takes the FIFO at `path` as this process's own. Returns an empty one if somebody alive has it. Throws LedgerError.
  static Bell take(const std::string& path);

  Bell() = default;
  explicit operator bool() const { return static_cast<bool>(file_); }

  /// Throws LedgerError if something else in this process has closed the bell: others take its owner for dead then.
  void require_kept() const { static_cast<void>(file_.number()); }

  /// Forgets earlier rings. What rings after this call ends a wait(). Throws as require_kept() does.
  void hush() const;

  /// Lets the program that this process will exec() keep the bell. Throws as require_kept() does.
  void inherit_across_exec() const;

  [[nodiscard]] int number() const { return file_.number(); }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

private:
  explicit Bell(KeptDescriptor file) : file_{std::move(file)} {}
  KeptDescriptor file_;
};

/// Somebody else's bell, opened to see its owner end.
class BellWatch {
public:
  /// Throws LedgerError if it cannot be opened (no descriptors left).
  explicit BellWatch(const std::string& path);

  /// Whether its owner lives. Probes the lock: who takes a bell just then may find it taken, and tries the next.
  [[nodiscard]] bool owner_lives() const;

  /// Throws LedgerError if something else in this process has closed it.
  [[nodiscard]] int number() const { return file_.number(); }

private:
  std::string path_;
  KeptDescriptor file_;
};

/// Wakes the owner of the bell at `path`, if it has one. Does not block; a bell that is full is ringing already.
///
/// Throws CannotRing if the bell is not there or cannot be opened. A process that has taken a bell keeps one descriptor
/// back, so that it can ring when it has no other left.
void ring(const std::string& path);

/// What ended a wait(). Neither: the time was over, or a signal came.
struct Woken {
  bool rung = false;
  std::vector<std::size_t> ended; ///< positions of those whose owner has ended
};

/// Sleeps until `own` is rung, an owner of `watched` ends, or the time is over.
///
/// Of an owner that had ended before the watch was opened it need not tell: ask owner_lives() after opening. Throws
/// LedgerError if the kernel does not let it sleep.
Woken wait(const Bell& own, const std::vector<BellWatch>& watched, std::chrono::milliseconds at_most);

} // namespace gputest::system
