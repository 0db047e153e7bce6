// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::os {

/// A ctest that runs tests.
struct CtestAncestor {
  pid_t pid = 0;
  std::vector<std::string> arguments; ///< without the program's name
};

/// The nearest ctest above this process that runs tests, or the one that it works for. One that only runs
/// `--build-and-test` is none: it may itself be a test of another. nullopt if there is none.
[[nodiscard]] std::optional<CtestAncestor> find_ctest();

/// This process works for that ctest, which has not started it: a worker. Not while other threads look for a ctest.
void set_ctest_of_process(pid_t ctest);

/// Whether this process is a worker.
[[nodiscard]] bool is_worker();

} // namespace gputest::os
