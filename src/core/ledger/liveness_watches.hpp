// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/slot_fifos.hpp"
#include "core/os/slot_store.hpp"

#include <chrono>
#include <vector>

namespace gputest::ledger {

/// The liveness FIFOs of the claims that block a waiting process. They stay open between its decisions. All by slot.
class LivenessWatches {
public:
  explicit LivenessWatches(const os::SlotStore& store) : store_{&store} {}

  /// Watches the owners of these slots from now on, and no others. Returns those that have ended already: they are not
  /// watched, since wait() would not report them. Throws LedgerError if a liveness FIFO cannot be opened.
  [[nodiscard]] std::vector<std::size_t> watch(const std::vector<std::size_t>& slots);

  /// Blocks until `own` is notified, the owner of a watched slot ends, or the time is over.
  [[nodiscard]] os::Woken wait(const os::WakeFifo& own, std::chrono::milliseconds at_most) const;

  /// Those of `slots`, watched or not, whose process has ended.
  [[nodiscard]] std::vector<std::size_t> ended_among(const std::vector<std::size_t>& slots);

private:
  [[nodiscard]] os::LivenessWatch* find(std::size_t slot); ///< null if it is not watched

  const os::SlotStore* store_;
  std::vector<std::size_t> slots_;
  std::vector<os::LivenessWatch> fifos_; ///< of slots_, in their order
};

} // namespace gputest::ledger
