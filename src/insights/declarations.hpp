// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <gputest/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputest::insights {

/// What a test declares, beside what was measured of it in all runs. Bytes are per device.
struct Declaration {
  enum class Verdict {
    over,    ///< it used more than it declares; a sampled figure is enough for that
    under,   ///< it used so much less that more tests could run at once
    unknown, ///< nothing was measured, or only lower bounds
    fits,    ///< it used what it declares, or not much less
  };
  std::string entry;
  std::string test;
  std::uint64_t leased = 0;              ///< the most that it held
  std::optional<std::uint64_t> declared; ///< in bytes; nullopt: it says a class
  std::string memory_class;
  bool whole_devices = false;
  std::map<std::string, std::uint64_t> measured; ///< the most by device model
  bool lower_bound = false;                      ///< whether the use may be more than was measured
  bool exact = false;             ///< whether the most on each model was measured exactly, in an attempt that passed
  std::size_t runs = 0;           ///< in which it was measured
  Verdict verdict = Verdict::unknown;
  Bytes advised;                ///< over: needed(), 0 if no device has it; under: advised_bytes()
  std::uint64_t most_there = 0; ///< what a test can have of the largest device on which it ran; 0: not known

  [[nodiscard]] std::uint64_t most() const;

  /// most() in whole MiB, rounded up, as the failing test's own message says it.
  [[nodiscard]] Bytes needed() const;
};

/// Takes the runs, the newest first, together. The furthest from what they declare come first, those that use more
/// before the others.
[[nodiscard]] std::vector<Declaration> declarations_of(const std::vector<const RunLog*>& runs);

/// What to declare in place of far too much for a test that used so much: a twentieth more, rounded up to 64 MiB, from
/// 2 GiB on to 256 MiB and from 16 GiB on to 1 GiB. Pure.
[[nodiscard]] Bytes advised_bytes(std::uint64_t used);

} // namespace gputest::insights
