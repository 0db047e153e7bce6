// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/run_mode.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::os {

// What is seen of the ctest that runs the tests of this process (find_ctest()): from /proc, the environment and preset
// files. Nothing throws: what cannot be read is left out.

/// What find_run_mode() needs of it; nullopt if there is none.
[[nodiscard]] std::optional<policy::CtestSighting> look_for_ctest();

struct RunningCtest {
  pid_t pid = 0;
  std::uint64_t start_time = 0; ///< os::start_time_of()
  std::string folder;           ///< where it runs
  std::uint64_t log = 0;        ///< FileStamp::id of its own log, which is LastTest.log when it has ended; 0: not known
};

/// nullopt if there is none, or if it may not be read.
[[nodiscard]] std::optional<RunningCtest> find_running_ctest();

/// The options with which another ctest finds the same tests: `--test-dir <folder>`, and `-C <configuration>` if that
/// one was given it. Empty if there is none, or if it may not be read.
[[nodiscard]] std::vector<std::string> options_of_ctest();

/// What a CMake test preset says of how ctest runs tests, inherited parts included.
struct TestPreset {
  std::optional<std::string> jobs; ///< `execution.jobs` as written; empty for a job for each CPU
};

/// Reads a test preset from a folder's CMakeUserPresets.json and CMakePresets.json, and what they include.
///
/// nullopt if there is no such preset, or a file or a parent is missing or broken. What ctest refuses (two presets of
/// one name, circles, a disabled preset) is not looked at: such a ctest starts no test. Does not throw.
[[nodiscard]] std::optional<TestPreset> read_test_preset(const std::string& folder, const std::string& name);

} // namespace gputest::os
