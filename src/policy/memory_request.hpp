#pragma once

#include <gputest/requirement.hpp>

namespace gputest::policy {

/// A requirement in the ledger's terms, for one device of those the process may use.
struct MemoryRequest {
  Bytes bytes;            ///< 0 where `exclusive`
  bool seat = false;      ///< the device's one medium seat: a medium test that does not say its bytes
  bool exclusive = false; ///< the whole device: a large test that does not say its bytes
};

/// What a requirement means on devices of which the smallest has `device_bytes`. Pure.
///
/// Small is 256 MiB, medium half of the device and its seat, large the whole device; declared bytes go before all of
/// them.
[[nodiscard]] MemoryRequest to_memory_request(const Requirement& requirement, Bytes device_bytes);

} // namespace gputest::policy
