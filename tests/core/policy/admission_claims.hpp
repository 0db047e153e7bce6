// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/admission.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace gputest::policy {

// Claims and decisions for the tests of admission, in few words. Bytes are small numbers; devices are sets of bits.

/// A process that waits for a place on `gpus` of `candidates`.
inline Claim entering(std::uint64_t ticket, DeviceMask candidates, std::uint64_t overhead, std::uint64_t largest,
                      unsigned gpus = 1) {
  Claim claim;
  claim.stage = Stage::entering;
  claim.ticket = ticket;
  claim.candidates = candidates;
  claim.gpus = gpus;
  claim.overhead_bytes = overhead;
  claim.largest_bytes = largest;
  return claim;
}

/// A process that is inside and holds no lease.
inline Claim inside(DeviceMask devices, std::uint64_t overhead, std::uint64_t largest) {
  Claim claim;
  claim.stage = Stage::inside;
  claim.devices = devices;
  claim.overhead_bytes = overhead;
  claim.largest_bytes = largest;
  return claim;
}

inline Claim with_lease(Claim claim, Stage stage, DeviceMask wanted, std::uint64_t bytes) {
  claim.stage = stage;
  claim.wanted = wanted;
  claim.lease_bytes = bytes;
  return claim;
}

inline Claim holding(Claim claim, std::uint64_t bytes) {
  return with_lease(claim, Stage::holding, claim.devices, bytes);
}

inline Claim waiting(std::uint64_t ticket, Claim claim, std::uint64_t bytes) {
  claim.ticket = ticket;
  return with_lease(claim, Stage::waiting, claim.devices, bytes);
}

inline Claim whole(Claim claim) {
  claim.whole_devices = true;
  return claim;
}

inline Claim exclusive(Claim claim) {
  claim.exclusive = true;
  return claim;
}

inline Claim medium_lock_holders(Claim claim) {
  claim.medium_lock = true;
  return claim;
}

inline Claim with_ticket(std::uint64_t ticket, Claim claim) {
  claim.ticket = ticket;
  return claim;
}

inline Claim stopped(Claim claim) {
  claim.stopped = true;
  return claim;
}

inline Claim idle(Claim claim) {
  claim.stage = Stage::idle;
  return claim;
}

/// A claim that waits behind the one with this ticket.
inline Claim behind(std::uint64_t ticket, Claim claim) {
  claim.behind = ticket;
  return claim;
}

inline Claim on(DeviceMask wanted, Claim claim) {
  claim.wanted = wanted;
  return claim;
}

/// A decision in words: `grant 2`, `wait for 0 3`, `wait for external processes`, `refuse 90 of 80, 1 of 2 gpus`.
inline std::string in_words(const Decision& decision) {
  if (const auto* grant = std::get_if<Grant>(&decision)) {
    return "grant " + std::to_string(grant->devices);
  }
  if (const auto* refusal = std::get_if<Refusal>(&decision)) {
    return "refuse " + std::to_string(refusal->asked_bytes) + " of " + std::to_string(refusal->largest_device_bytes) +
           ", " + std::to_string(refusal->asked_gpus) + " of " + std::to_string(refusal->gpus) + " gpus";
  }
  std::string words = "wait for";
  for (const std::size_t blocker : std::get<Wait>(decision).blockers) {
    words += " " + std::to_string(blocker);
  }
  return words + (std::get<Wait>(decision).external ? " external processes" : "");
}

/// One case of a table: the claim under test is the first.
struct AdmissionCase {
  std::string claim;
  Snapshot snapshot;
  std::string expected;
};

} // namespace gputest::policy
