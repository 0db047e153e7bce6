// SPDX-License-Identifier: BSD-3-Clause
// The decision, over snapshots that no gputest would make too. An input, of tokens: the number of devices, total and
// external processes' bytes of each, then claims: stage (E, I, W, H, L for idle), ticket, candidates, gpus, overhead,
// largest, devices, wanted, lease, flags (1 whole devices, 2 exclusive, 4 medium lock).

#include "core/policy/admission_rules.hpp"
#include "proofs/fuzz/fuzzer.hpp"
#include "proofs/fuzz/tokens.hpp"

#include <algorithm>

using namespace gputest;
using namespace gputest::policy;

namespace {

constexpr std::size_t most_claims = 48;

Stage stage_of(char letter) {
  constexpr std::string_view letters = "-EIWHL";
  return static_cast<Stage>(std::min(letters.find(letter), letters.size())); // one more than there are, too
}

Snapshot read_snapshot(tests::Tokens tokens) {
  Snapshot snapshot;
  snapshot.devices.resize(tokens.number() % (rules::max_devices + 1));
  for (Capacity& device : snapshot.devices) {
    // No driver shows more; a total is not what others write into the ledger.
    device.total_bytes = std::min(tokens.number(), UINT64_MAX >> 1U);
    device.external_bytes = tokens.number();
  }
  while (!tokens.done() && snapshot.claims.size() < most_claims) {
    Claim claim;
    claim.stage = stage_of(tokens.letter());
    claim.ticket = tokens.number();
    claim.candidates = tokens.number();
    claim.gpus = static_cast<unsigned>(tokens.number());
    claim.overhead_bytes = tokens.number();
    claim.largest_bytes = tokens.number();
    claim.devices = tokens.number();
    claim.wanted = tokens.number();
    claim.lease_bytes = tokens.number();
    const std::uint64_t flags = tokens.number();
    claim.whole_devices = (flags & 1U) != 0;
    claim.exclusive = (flags & 2U) != 0;
    claim.medium_lock = (flags & 4U) != 0;
    snapshot.claims.push_back(claim);
  }
  return snapshot;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rules::check(read_snapshot(tests::Tokens{{reinterpret_cast<const char*>(data), size}}));
  return 0;
}
