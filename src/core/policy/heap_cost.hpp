// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>

#include <cstdint>

namespace gputest::policy {

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

} // namespace gputest::policy
