// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "client/test_case.hpp"

#include <string>

namespace gputest::client {

/// Writes one line, `gputest: <text>`, to stderr.
void say(const std::string& text);

/// Becomes the case's own process. Says why, unless `why` is empty. Returns an exit code if it cannot be started.
[[nodiscard]] int become(const TestCase& test, const std::string& why);

/// Runs a case that has failed in a worker, after the cases whose filters are `before`, in a process of its own. The
/// result of that counts. If the case passes there, says how to repeat the failure, as far as a search for the case
/// that it depends on has found it within some seconds; then that is the result, or a failure if dependence fails.
/// Returns the exit code, or ends this process by the same signal.
[[nodiscard]] int run_again_alone(const TestCase& test, const std::vector<std::string>& before);

} // namespace gputest::client
