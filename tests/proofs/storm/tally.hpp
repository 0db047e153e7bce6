// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "board.hpp"

#include <array>
#include <cstdint>

namespace gputest::tests::storm {

/// What the driver counts; the rest is on the board.
struct Tally {
  std::uint64_t starts = 0;
  std::uint64_t finished = 0;
  std::array<std::uint64_t, 32> killed_by{};        ///< by signal
  std::array<std::uint64_t, doings> killed_while{}; ///< by what they did
  std::uint64_t stops = 0;
  std::uint64_t kept_stopped = 0; ///< of these, those that stayed so until all others had come to rest
  std::uint64_t rounds = 0;
  double seconds = 0;

  [[nodiscard]] std::uint64_t kills() const;
  Tally& operator+=(const Tally& other);
};

} // namespace gputest::tests::storm
