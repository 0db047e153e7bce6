// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace gputest::os {

/// What a CMake test preset says of how ctest runs tests, inherited parts included.
struct TestPreset {
  std::optional<std::string> jobs; ///< `execution.jobs` as written; empty for a job for each CPU
  bool has_resource_spec = false;  ///< `execution.resourceSpecFile` is there
};

/// Reads a test preset from a folder's CMakeUserPresets.json and CMakePresets.json, and what they include.
///
/// nullopt if there is no such preset, or a file or a parent is missing or broken. What ctest refuses (two presets of
/// one name, circles, a disabled preset) is not looked at: such a ctest starts no test. Does not throw.
[[nodiscard]] std::optional<TestPreset> read_test_preset(const std::string& folder, const std::string& name);

} // namespace gputest::os
