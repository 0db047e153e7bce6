#pragma once

#include "policy/claims.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace gputest::policy {

/// The claim that arrived last of those that are ahead on `device` in the same queue; none if nobody is.
///
/// Whoever is ahead of that one is in its way too, and so need not be watched by others.
[[nodiscard]] std::optional<std::size_t> next_ahead(const Snapshot& snapshot, std::size_t self, std::size_t device);

/// Positions of the claims that nobody in their queue is ahead of: who has to look again when anything has changed.
[[nodiscard]] std::vector<std::size_t> heads(const Snapshot& snapshot);

} // namespace gputest::policy
