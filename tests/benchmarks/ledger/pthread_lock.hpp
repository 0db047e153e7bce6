// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contestant.hpp"

namespace gputest::benchmarks {

/// What becomes of a pthread mutex whose holder is killed.
enum class Robustness {
  stalled, ///< it stays locked for ever
  robust,  ///< the next one gets it, and is told
};

/// A pthread mutex in a file that processes map.
void make_pthread_mutex(const std::string& place, Robustness robustness);
[[nodiscard]] std::unique_ptr<Lock> open_pthread_mutex(const std::string& place);

} // namespace gputest::benchmarks
