#include "policy/external_processes.hpp"

#include <gputest/bytes.hpp>

#include <algorithm>

namespace gputest::policy {

namespace {

bool decides(const std::optional<std::vector<ListedProcess>>& processes) {
  return processes && std::all_of(processes->begin(), processes->end(),
                                  [](const ListedProcess& p) { return p.used_bytes && p.known_here; });
}

} // namespace

// Sums and differences of Bytes do not wrap, even for absurd claims.
std::uint64_t external_bytes(std::uint64_t used_bytes, const std::optional<std::vector<ListedProcess>>& processes,
                             const std::vector<ClaimedMemory>& claims, Unlisted unlisted) {
  const Bytes used{used_bytes};
  if (!decides(processes)) {
    Bytes claimed;
    for (const auto& claim : claims) {
      claimed += Bytes{claim.bytes};
    }
    return (used - claimed).count();
  }
  std::vector<Bytes> used_by_owner(claims.size());
  Bytes external;
  Bytes listed;
  for (const auto& process : *processes) {
    const Bytes bytes{*process.used_bytes};
    listed += bytes;
    const auto owner = std::find_if(claims.begin(), claims.end(),
                                    [&](const ClaimedMemory& claim) { return claim.pid == process.owner; });
    if (owner == claims.end()) {
      external += bytes;
    } else {
      used_by_owner[static_cast<std::size_t>(owner - claims.begin())] += bytes;
    }
  }
  Bytes unused_claims;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Bytes claimed{claims[i].bytes};
    external += used_by_owner[i] - claimed;
    unused_claims += claimed - used_by_owner[i];
  }
  if (unlisted == Unlisted::others) {
    return (external + (used - listed)).count();
  }
  // The list leaves out managed memory, and in a container everything outside it: what is in use and listed nowhere may
  // be our own as far as claims allow.
  return (external + (used - listed - unused_claims)).count();
}

} // namespace gputest::policy
