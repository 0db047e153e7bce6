// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace gputest::os {

/// What a CMake test preset says of how ctest runs tests, inherited parts included.
struct TestPreset {
  std::optional<std::string> jobs;           ///< `execution.jobs` as written; empty for a job for each CPU
  std::optional<std::string> parallel_level; ///< CTEST_PARALLEL_LEVEL in the environment that it sets for ctest
  bool has_resource_spec = false;            ///< `execution.resourceSpecFile` is there

  friend bool operator==(const TestPreset& a, const TestPreset& b) {
    return a.jobs == b.jobs && a.parallel_level == b.parallel_level && a.has_resource_spec == b.has_resource_spec;
  }
};

/// Reads a test preset from a folder's CMakeUserPresets.json and CMakePresets.json, or from one file, and what they
/// include.
///
/// nullopt if there is no such preset, or two of that name, a file or a parent is missing or broken, or a value needs a
/// macro to be expanded. Conditions are not looked at: a ctest with a disabled preset starts no test. Does not throw.
[[nodiscard]] std::optional<TestPreset> read_test_preset(const std::string& folder_or_file, const std::string& name);

} // namespace gputest::os
