// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contestant.hpp"

namespace gputest::benchmarks {

/// An empty file to lock.
void make_lock_file(const std::string& place);

/// flock(2) on a file that stays open.
[[nodiscard]] std::unique_ptr<Lock> open_flock(const std::string& place);

/// As Python's filelock does it: opens the file, tries flock(2), and if that fails closes it, sleeps 50 ms and tries
/// again.
[[nodiscard]] std::unique_ptr<Lock> open_polled_flock(const std::string& place);

} // namespace gputest::benchmarks
