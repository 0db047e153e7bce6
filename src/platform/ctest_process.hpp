// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "policy/run_mode.hpp"

#include <string>
#include <vector>

namespace gputest::platform {

/// Looks for the ctest that started this process and gathers what find_run_mode() needs, from /proc and preset files.
///
/// Never throws: what cannot be read is left out. Asks ctest for its version (one process, about 10 ms) only where the
/// answer depends on it.
[[nodiscard]] policy::CtestSighting look_for_ctest();

/// The options with which another ctest finds the tests of the one that started this process: `--test-dir <folder>`,
/// and
/// `-C <configuration>` if that one was given it. Empty if there is none, or if it may not be read. Never throws.
[[nodiscard]] std::vector<std::string> options_of_ctest();

} // namespace gputest::platform
