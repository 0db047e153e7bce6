#pragma once

#include "policy/admission.hpp"

#include <cstdint>

namespace gputest::cli {

/// How many bytes of device `index` the next test could lease without waiting, its own context not counted.
///
/// Asks the ledger's own decision about a process that would arrive now with a context of `overhead_bytes`, so what is
/// shown is what would be granted: 0 as well where others wait in front, or where somebody has the whole device. Pure.
[[nodiscard]] std::uint64_t free_bytes_for_next(const policy::Snapshot& snapshot, std::size_t index,
                                                std::uint64_t overhead_bytes);

} // namespace gputest::cli
