// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contestant.hpp"

namespace gputest::benchmarks {

/// Boost's named_mutex: a POSIX semaphore named after `place`, which lies beside the run's folder and not in it.
void make_named_mutex(const std::string& place);
[[nodiscard]] std::unique_ptr<Lock> open_named_mutex(const std::string& place);

/// Boost's file_lock: a POSIX record lock.
[[nodiscard]] std::unique_ptr<Lock> open_boost_file_lock(const std::string& place);

} // namespace gputest::benchmarks
