// SPDX-License-Identifier: BSD-3-Clause
#include "tool/free_memory.hpp"

#include "core/policy/queues.hpp"

#include <variant>

namespace gputest::tool {

namespace {

/// At once, or as soon as idle processes have left for it.
bool is_granted(const policy::Snapshot& snapshot) {
  const std::size_t position = snapshot.claims.size() - 1;
  const auto decision = policy::decide(snapshot, position);
  const auto* wait = std::get_if<policy::Wait>(&decision);
  return std::holds_alternative<policy::Grant>(decision) ||
         (wait != nullptr && policy::idle_to_evict(snapshot, position, *wait).enough);
}

/// Whether a process that arrives now enters and gets its bytes, both without waiting. Its claim is the last one.
bool would_run(policy::Snapshot& snapshot, std::uint64_t bytes) {
  policy::Claim& claim = snapshot.claims.back();
  claim.stage = policy::Stage::entering;
  claim.largest_bytes = bytes;
  if (!is_granted(snapshot)) {
    return false;
  }
  claim.stage = policy::Stage::waiting;
  claim.lease_bytes = bytes;
  return is_granted(snapshot);
}

} // namespace

std::uint64_t free_bytes_for_next(const policy::Snapshot& snapshot, std::size_t index, std::uint64_t overhead_bytes) {
  policy::Snapshot next = snapshot;
  policy::Claim claim;
  claim.ticket = UINT64_MAX; // behind all other claims
  claim.candidates = policy::DeviceMask{1} << index;
  claim.devices = claim.candidates;
  claim.wanted = claim.candidates;
  claim.overhead_bytes = overhead_bytes;
  next.claims.push_back(claim);

  // If an amount is not granted, no larger one is: bisection finds the largest.
  std::uint64_t granted = 0;
  std::uint64_t too_much = next.devices[index].total_bytes + 1;
  while (too_much - granted > 1) {
    const std::uint64_t middle = granted + (too_much - granted) / 2;
    (would_run(next, middle) ? granted : too_much) = middle;
  }
  return granted;
}

} // namespace gputest::tool
