// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/external_processes.hpp"

#include <gputest/bytes.hpp>

#include <algorithm>

namespace gputest::policy {

namespace {

bool decides(const std::optional<std::vector<ListedProcess>>& processes) {
  return processes && std::all_of(processes->begin(), processes->end(),
                                  [](const ListedProcess& p) { return p.used_bytes && p.known_here; });
}

// Sums and differences of Bytes do not wrap, even for absurd claims.

/// What the processes in a list use: those of claims, and others.
struct Use {
  std::vector<Bytes> by_claim;
  Bytes by_others;
  Bytes all;
};

Use use_of(const std::vector<ListedProcess>& processes, const std::vector<ClaimedMemory>& claims) {
  Use use{std::vector<Bytes>(claims.size()), {}, {}};
  for (const auto& process : processes) {
    const Bytes bytes{process.used_bytes.value_or(0)};
    use.all += bytes;
    const auto owner = std::find_if(claims.begin(), claims.end(),
                                    [&](const ClaimedMemory& claim) { return claim.pid == process.owner; });
    (owner == claims.end() ? use.by_others : use.by_claim[static_cast<std::size_t>(owner - claims.begin())]) += bytes;
  }
  return use;
}

} // namespace

std::vector<std::uint64_t> over_lease_bytes(const std::optional<std::vector<ListedProcess>>& processes,
                                            const std::vector<ClaimedMemory>& claims) {
  std::vector<std::uint64_t> beyond;
  if (decides(processes)) {
    const Use use = use_of(*processes, claims);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      beyond.push_back((use.by_claim[i] - Bytes{claims[i].bytes}).count());
    }
  }
  return beyond;
}

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
  const Use use = use_of(*processes, claims);
  Bytes external = use.by_others;
  Bytes unused_claims;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Bytes claimed{claims[i].bytes};
    external += use.by_claim[i] - claimed;
    unused_claims += claimed - use.by_claim[i];
  }
  if (unlisted == Unlisted::others) {
    return (external + (used - use.all)).count();
  }
  // The list leaves out managed memory, and in a container everything outside it: what is in use and listed nowhere may
  // be our own as far as claims allow.
  return (external + (used - use.all - unused_claims)).count();
}

} // namespace gputest::policy
