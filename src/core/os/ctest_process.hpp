// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/run_mode.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::os {

/// Looks for the ctest that started this process and gathers what find_run_mode() needs, from /proc and preset files.
///
/// Never throws: what cannot be read is left out. Asks ctest for its version (one process, about 10 ms) only where the
/// answer depends on it.
[[nodiscard]] policy::CtestSighting look_for_ctest();

/// This process works for that ctest, which has not started it: a worker. Not while other threads look for a ctest.
void set_ctest_of_process(pid_t ctest);

/// Whether this process is a worker.
[[nodiscard]] bool is_worker();

/// Whether the ctest that started a process has a resource spec file of its user's.
enum class UsersResourceSpec {
  none,     ///< or no ctest has started it
  possible, ///< a script that ctest runs, or a preset that cannot be read, may name one
  named,    ///< on the command line or in a preset
};

/// Looks at the ctest that started this process. Never throws.
[[nodiscard]] UsersResourceSpec find_users_resource_spec();

/// The ctest that runs this process's tests.
struct RunningCtest {
  pid_t pid = 0;
  std::uint64_t start_time = 0; ///< os::start_time_of()
  std::string folder;           ///< where it runs
  std::uint64_t log = 0;        ///< FileStamp::id of its own log, which is LastTest.log when it has ended; 0: not known
};

/// The nearest ctest above this process that runs tests. nullopt if there is none, or if it may not be read. Never
/// throws.
[[nodiscard]] std::optional<RunningCtest> find_running_ctest();

/// The options with which another ctest finds the tests of the one that started this process: `--test-dir <folder>`,
/// and
/// `-C <configuration>` if that one was given it. Empty if there is none, or if it may not be read. Never throws.
[[nodiscard]] std::vector<std::string> options_of_ctest();

} // namespace gputest::os
