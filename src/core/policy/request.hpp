// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>
#include <gputest/memory_kind.hpp>
#include <gputest/request.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gputest::policy {

/// A request in the ledger's terms, for one device of those the process may use.
struct MemoryRequest {
  Bytes bytes;              ///< 0: all that external processes leave of it, see whole_device()
  bool medium_lock = false; ///< the device's one medium lock: a medium test that does not say its bytes
  bool exclusive = false;   ///< nobody else inside: a large test that does not say its bytes, or one that is alone

  [[nodiscard]] bool whole_device() const { return exclusive && bytes == Bytes{}; }
};

/// What a request means on devices of which the smallest has `device_bytes`. Pure.
///
/// Small is 256 MiB, medium half of the device and its medium lock, large the whole device; declared bytes take
/// precedence over all of them.
[[nodiscard]] MemoryRequest to_memory_request(const Request& request, Bytes device_bytes);

/// What an estimated lease is enlarged to so that its test has `needed`: sixteen sizes for each doubling, whole pieces
/// of 2 MiB. Pure.
[[nodiscard]] Bytes estimate_for(Bytes needed);

/// The request, or one of whole devices if it is an estimate of more than `largest`, which a test can have of any
/// device here: an estimate makes no test impossible. Pure.
[[nodiscard]] Request fitted(Request request, Bytes largest);

/// What a device heap (the limit for `malloc` in kernels) really takes of the device, once a kernel that uses it has
/// run: 2 MiB more, for heaps of 64 MiB to 1 GiB on an H200, in whole MiB.
///
/// What the first kernel of a process takes beside it, 129 MiB there, is part of the usual overhead.
[[nodiscard]] constexpr Bytes heap_cost(Bytes heap) {
  constexpr std::uint64_t mebibyte = 1ULL << 20U;
  if (heap == Bytes{}) {
    return {};
  }
  return Bytes{((heap.count() + mebibyte - 1) / mebibyte + 2) * mebibyte};
}

/// The kind of memory that a memory resource uses, and why.
struct MemoryKindChoice {
  MemoryKind kind = MemoryKind::pool;
  std::string because; ///< for people: `device 0 has memory pools`
};

/// Chooses between pool and malloc. Pure. What the test demands takes precedence over the setting, and that over what
/// the device can. Throws InvalidSetting if pools are demanded of a device without any.
[[nodiscard]] MemoryKindChoice choose_memory_kind(std::optional<MemoryKind> of_test,
                                                  std::optional<MemoryKind> of_setting, bool has_pools, int device);

} // namespace gputest::policy
