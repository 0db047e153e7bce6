#pragma once

#include "system/descriptor.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace gputest::system {

/// The FIFO of one slot: locked as long as its owner, or a child the owner forked, lives; rung to wake the owner.
class Bell {
public:
  /// Makes the FIFO. Throws LedgerError.
  static void create(const std::string& path);

  /// Takes the FIFO at `path` as this process's own. Returns an empty one if somebody alive has it. Throws LedgerError.
  static Bell take(const std::string& path);

  Bell() = default;
  explicit operator bool() const { return static_cast<bool>(file_); }

  /// Forgets earlier rings. What rings after this call ends a wait().
  void hush() const;

  /// Lets the program that this process will exec() keep the bell.
  void inherit_across_exec() const;

  [[nodiscard]] int number() const { return file_.number(); }

private:
  explicit Bell(Descriptor file) : file_{std::move(file)} {}
  Descriptor file_;
};

/// Somebody else's bell, opened to see its owner end.
class BellWatch {
public:
  /// Throws LedgerError if it cannot be opened (no descriptors left).
  explicit BellWatch(const std::string& path);

  /// Whether its owner lives. Probes the lock: only where nobody can be taking a bell at the same time.
  [[nodiscard]] bool owner_lives() const;

  [[nodiscard]] int number() const { return file_.number(); }

private:
  Descriptor file_;
};

/// Wakes the owner of the bell at `path`, if it has one. Does not block; a bell that is full is ringing already.
void ring(const std::string& path);

/// Sleeps until `own` is rung, an owner of `watched` ends, or the time is over.
void wait(const Bell& own, const std::vector<BellWatch>& watched, std::chrono::milliseconds at_most);

} // namespace gputest::system
