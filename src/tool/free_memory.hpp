// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/admission.hpp"

#include <cstdint>

namespace gputest::tool {

/// How many bytes of device `index` the next test could lease without waiting, without its own context.
///
/// Asks the ledger's own decision for a process that arrives now with a context of `overhead_bytes`, so it shows what
/// would be granted. It is also 0 if others wait ahead, or if a process holds the whole device. Pure.
[[nodiscard]] std::uint64_t free_bytes_for_next(const policy::Snapshot& snapshot, std::size_t index,
                                                std::uint64_t overhead_bytes);

} // namespace gputest::tool
