// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "board.hpp"

#include <cstdint>
#include <string>

namespace gputest::tests::storm {

/// The life of one process of a storm: enters, leases at random, and ends, if it is not killed before. Called in a
/// forked child. Returns its exit status.
int live(Board& board, const std::string& folder, std::uint64_t number, unsigned seed);

} // namespace gputest::tests::storm
