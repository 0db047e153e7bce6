// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "board.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace gputest::tests::storm {

/// What the ledger says of itself while nothing moves.
struct Stillness {
  /// Requests that could be granted, by the ledger's own decision, and are not: at once, or if idle processes left.
  std::size_t sleepers = 0;
  std::size_t leasing = 0; ///< requests for a lease
};

/// How long to wait for a ledger's answer, and what to do meanwhile: whoever has its mutex may have to be helped on.
struct Asking {
  std::chrono::seconds patience;
  std::function<void()> meanwhile;
};

/// Looks at a ledger in a process of its own, so that what is the matter with the ledger does not stop the driver.
/// Nothing if it did not answer in time.
std::optional<Stillness> inspect(Board& board, const std::string& folder, const Asking& asking);

/// Enters with the whole machine, at once, after all others have ended. Empty if that works and nobody else is left.
std::string claim_everything(Board& board, const std::string& folder, std::uint64_t number, const Asking& asking);

} // namespace gputest::tests::storm
