// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace gputest {

/// Where a memory resource takes a device's memory from.
enum class MemoryKind {
  pool,    ///< the device's memory pool, in the order of a stream (`cudaMallocAsync`)
  malloc,  ///< the driver itself (`cudaMalloc`), for devices without memory pools
  managed, ///< unified memory (`cudaMallocManaged`)
};

/// `pool`, `malloc` or `managed`.
[[nodiscard]] std::string_view to_string(MemoryKind kind);

} // namespace gputest
