#pragma once

#include "ledger/slot_store.hpp"
#include "system/bell.hpp"

#include <chrono>
#include <vector>

namespace gputest::ledger {

/// The bells of those in a process's way, open from look to look while it waits. All by slot.
class Watches {
public:
  explicit Watches(const SlotStore& store) : store_{&store} {}

  /// Watches these from now on, and nobody else. Returns those that have ended already: wait() would not tell of them.
  /// Throws LedgerError if a bell cannot be opened.
  [[nodiscard]] std::vector<std::size_t> watch(const std::vector<std::size_t>& slots);

  /// Sleeps until `own` is rung, somebody who is watched ends, or the time is over.
  [[nodiscard]] system::Woken wait(const system::Bell& own, std::chrono::milliseconds at_most) const;

  /// Those of `slots`, watched or not, whose process has ended.
  [[nodiscard]] std::vector<std::size_t> ended_among(const std::vector<std::size_t>& slots);

private:
  [[nodiscard]] system::BellWatch* find(std::size_t slot); ///< null if it is not watched

  const SlotStore* store_;
  std::vector<std::size_t> slots_;
  std::vector<system::BellWatch> bells_; ///< of slots_, in their order
};

} // namespace gputest::ledger
