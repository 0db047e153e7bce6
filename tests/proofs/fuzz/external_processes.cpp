// SPDX-License-Identifier: BSD-3-Clause
// External processes' memory. An input, of tokens: bytes in use, whether there is a list, then `P` <owner> <bytes> of a
// listed process and `C` <pid> <bytes> of a claim.

#include "core/policy/external_processes.hpp"
#include "proofs/fuzz/fuzzer.hpp"
#include "proofs/fuzz/tokens.hpp"

using namespace gputest;
using tests::require;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tests::Tokens tokens{{reinterpret_cast<const char*>(data), size}};
  const std::uint64_t used = tokens.number();
  std::optional<std::vector<policy::ListedProcess>> listed;
  if (tokens.number() != 0) {
    listed.emplace();
  }
  std::vector<policy::ClaimedMemory> claims;
  while (!tokens.done()) {
    const char kind = tokens.letter();
    const auto pid = static_cast<std::int64_t>(tokens.number());
    const std::uint64_t bytes = tokens.number();
    if (kind == 'P' && listed) {
      listed->push_back({pid, bytes});
    } else {
      claims.push_back({pid, bytes});
    }
  }
  const std::uint64_t external = policy::external_bytes(used, listed, claims);
  require(listed || external <= used, "without a list, no more than what is in use");
  for (auto& claim : claims) {
    const std::uint64_t claimed = claim.bytes;
    claim.bytes = UINT64_MAX;
    require(policy::external_bytes(used, listed, claims) <= external,
            "a larger claim leaves no more to external processes");
    claim.bytes = claimed;
  }
  return 0;
}
