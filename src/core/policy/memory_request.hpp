// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/request.hpp>

namespace gputest::policy {

/// A request in the ledger's terms, for one device of those the process may use.
struct MemoryRequest {
  Bytes bytes;              ///< 0 if `exclusive`
  bool medium_lock = false; ///< the device's one medium lock: a medium test that does not say its bytes
  bool exclusive = false;   ///< the whole device: a large test that does not say its bytes
};

/// What a request means on devices of which the smallest has `device_bytes`. Pure.
///
/// Small is 256 MiB, medium half of the device and its medium lock, large the whole device; declared bytes take
/// precedence over all of them.
[[nodiscard]] MemoryRequest to_memory_request(const Request& request, Bytes device_bytes);

} // namespace gputest::policy
