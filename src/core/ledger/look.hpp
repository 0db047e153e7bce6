// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/record.hpp"
#include "core/ledger/records.hpp"
#include "core/ledger/result.hpp"
#include "core/policy/admission.hpp"

#include <cstddef>
#include <vector>

namespace gputest::ledger {

/// What a claim that asks for something finds: the decision, and who stands in the way.
struct Look {
  policy::Decision decision;
  Blocked blocked;
  std::vector<Record> living;   ///< those in the way that were not seen to end
  std::vector<Record> dead;     ///< and those that have ended, and whose memory is not back
  std::vector<Record> to_leave; ///< of the living, the idle ones that have to leave
  bool they_leave = false;      ///< whether it waits for those, and for the dead, and for nobody else
  bool external = false;        ///< memory that no claim covers stands in the way too
  bool decided = false;         ///< what was seen of the devices was enough
  bool nobody_moves = false;    ///< everybody on one of its devices waits
  bool stuck = false;           ///< and it can never be granted

  /// Whether memory of ended processes stands in the way, and nothing else.
  [[nodiscard]] bool for_the_dead_only() const { return living.empty() && !external; }

  /// Whether nothing stands in the way that has to be looked at again and again.
  [[nodiscard]] bool for_the_living_only() const { return dead.empty() && !external; }
};

/// What `seen` and `all` mean for the claim at `own`, which asks for something. `all` has everybody, of whom those that
/// have ended and those that are stopped are marked. `queued`: others may have seen the claim wait. Asks nobody.
[[nodiscard]] Look look_at(const std::vector<Record>& all, std::size_t own, const policy::Snapshot& snapshot,
                           const Observations& seen, bool queued);

/// Says in `blocked` whose the external memory of these devices is; the process at `own` is not named.
void attribute_external(Blocked& blocked, const std::vector<Record>& all, std::size_t own, policy::DeviceMask devices,
                        const Observations& seen);

} // namespace gputest::ledger
