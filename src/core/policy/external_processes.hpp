// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gputest::policy {

/// A process that a device's driver lists. `owner` is its own pid or, for a descendant of a process on the ledger, that
/// one's.
struct ListedProcess {
  std::int64_t owner = 0;
  std::optional<std::uint64_t> used_bytes;
  bool known_here = true; ///< whether that pid means anything in this process's pid namespace
};

/// What a process on the ledger has claimed of the device, context included.
struct ClaimedMemory {
  std::int64_t pid = 0;
  std::uint64_t bytes = 0;
};

/// The owner of memory that is in use but that the driver does not list.
enum class Unlisted {
  may_be_ours, ///< managed memory, and in a container everything outside it
  others,      ///< the host's programs, if the device shares its memory
};

/// What the process of each claim has of the device beyond it, by the claim's position; empty if the driver's list of
/// processes does not decide. Part of external_bytes(). Pure.
[[nodiscard]] std::vector<std::uint64_t> over_lease_bytes(const std::optional<std::vector<ListedProcess>>& processes,
                                                          const std::vector<ClaimedMemory>& claims);

/// How much of a device is held by others than those on the ledger, or by those beyond what they claimed.
///
/// If the driver lists processes with their bytes, and their pids are valid here, that list decides. Otherwise
/// everything in use beyond all claims counts. Pure.
[[nodiscard]] std::uint64_t external_bytes(std::uint64_t used_bytes,
                                           const std::optional<std::vector<ListedProcess>>& processes,
                                           const std::vector<ClaimedMemory>& claims,
                                           Unlisted unlisted = Unlisted::may_be_ours);

} // namespace gputest::policy
