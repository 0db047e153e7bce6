// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputest::policy {

/// This process, which a launcher may have been before, or one above it.
struct Ancestor {
  std::int64_t pid = 0;
  std::uint64_t start_time = 0; ///< 0: not known
  std::uint32_t uid = 0;        ///< to whom the process belongs
};

/// A process that holds a lease, as the ledger says.
struct LeaseHolder {
  std::int64_t pid = 0;
  std::uint64_t start_time = 0; ///< 0: not known
  std::uint32_t uid = 0;        ///< to whom its part of the ledger belongs
  bool is_inherited = false;    ///< this process has its liveness FIFO open, which only its descendants have
};

/// Under whose lease a process runs whose environment does not name one: the nearest ancestor's that holds one; else
/// that of a holder whose liveness FIFO it has inherited, since an ancestor may have ended in between. Returns a
/// position in `holders`.
///
/// A member of a shared ledger may write any pid into its own part: an ancestor is one only if it belongs to that
/// member. Pure.
[[nodiscard]] std::optional<std::size_t> lease_above(const std::vector<Ancestor>& ancestors,
                                                     const std::vector<LeaseHolder>& holders);

} // namespace gputest::policy
