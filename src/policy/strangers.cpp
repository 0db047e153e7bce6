#include "policy/strangers.hpp"

#include <algorithm>

namespace gputest::policy {

namespace {

bool decides(const std::optional<std::vector<ListedProcess>>& processes) {
  return processes && std::all_of(processes->begin(), processes->end(),
                                  [](const ListedProcess& p) { return p.used_bytes && p.known_here; });
}

std::uint64_t beyond(std::uint64_t bytes, std::uint64_t limit) { return bytes > limit ? bytes - limit : 0; }

} // namespace

std::uint64_t stranger_bytes(std::uint64_t used_bytes, const std::optional<std::vector<ListedProcess>>& processes,
                             const std::vector<ClaimedMemory>& claims) {
  if (!decides(processes)) {
    std::uint64_t claimed = 0;
    for (const auto& claim : claims) {
      claimed += claim.bytes;
    }
    return beyond(used_bytes, claimed);
  }
  std::vector<std::uint64_t> used_by_owner(claims.size(), 0);
  std::uint64_t strangers = 0;
  std::uint64_t listed = 0;
  for (const auto& process : *processes) {
    listed += *process.used_bytes;
    const auto owner = std::find_if(claims.begin(), claims.end(),
                                    [&](const ClaimedMemory& claim) { return claim.pid == process.owner; });
    if (owner == claims.end()) {
      strangers += *process.used_bytes;
    } else {
      used_by_owner[static_cast<std::size_t>(owner - claims.begin())] += *process.used_bytes;
    }
  }
  std::uint64_t unused_claims = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    strangers += beyond(used_by_owner[i], claims[i].bytes);
    unused_claims += beyond(claims[i].bytes, used_by_owner[i]);
  }
  // The list leaves out managed memory, and in a container everything outside it: what is in use and listed nowhere may
  // be our own as far as claims have room for it.
  return strangers + beyond(beyond(used_bytes, listed), unused_claims);
}

} // namespace gputest::policy
