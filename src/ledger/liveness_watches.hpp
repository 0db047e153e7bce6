#pragma once

#include "platform/slot_store.hpp"
#include "platform/wake_fifo.hpp"

#include <chrono>
#include <vector>

namespace gputest::ledger {

/// The liveness FIFOs of those in a process's way, open from look to look while it waits. All by slot.
class LivenessWatches {
public:
  explicit LivenessWatches(const platform::SlotStore& store) : store_{&store} {}

  /// LivenessWatches these from now on, and nobody else. Returns those that have ended already: wait() would not tell
  /// of them. Throws LedgerError if a liveness FIFO cannot be opened.
  [[nodiscard]] std::vector<std::size_t> watch(const std::vector<std::size_t>& slots);

  /// Sleeps until `own` is notified, somebody who is watched ends, or the time is over.
  [[nodiscard]] platform::Woken wait(const platform::WakeFifo& own, std::chrono::milliseconds at_most) const;

  /// Those of `slots`, watched or not, whose process has ended.
  [[nodiscard]] std::vector<std::size_t> ended_among(const std::vector<std::size_t>& slots);

private:
  [[nodiscard]] platform::LivenessWatch* find(std::size_t slot); ///< null if it is not watched

  const platform::SlotStore* store_;
  std::vector<std::size_t> slots_;
  std::vector<platform::LivenessWatch> fifos_; ///< of slots_, in their order
};

} // namespace gputest::ledger
