// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gputest::tests {

/// Shares the numbers 0 to `count` - 1 out among `jobs` forked processes. In each, `make_work` makes what does one
/// number, and says what is wrong with it, or nothing. All that was said, or that a process ended before it was done.
[[nodiscard]] std::vector<std::string>
in_jobs(std::size_t jobs, std::size_t count, const std::function<std::function<std::string(std::size_t)>()>& make_work);

} // namespace gputest::tests
