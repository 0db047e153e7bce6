// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gputest::insights {

constexpr const char* no_list_of_ctest = "it is not the list of tests that 'ctest --show-only=json-v1' prints";

/// An entry that ctest would run.
struct SuiteTest {
  std::string name;
  double seconds = 0; ///< how long it runs once it has its memory; 0 if it runs nowhere
  /// Disabled, or large and excluded. What depends on the machine, or on -j, does not count: machines would split the
  /// suite otherwise.
  bool runs_nowhere = false;
  bool uses_gpu = false;   ///< as its label says
  bool of_fixture = false; ///< it sets up or cleans up a fixture: ctest adds it to whatever selects a test of that
  std::vector<std::size_t> after; ///< positions of the tests that have to end before it starts
  /// Those of `after` with each of which CTest runs it: it cleans up a fixture of theirs that no test sets up.
  std::vector<std::size_t> runs_with;
};

struct CtestSuite {
  std::vector<SuiteTest> tests;
  std::size_t measured = 0;   ///< how many of them have a time
  double assumed_seconds = 1; ///< of the others: the mean of those that have one
};

/// Reads what `ctest --show-only=json-v1` prints. `times` are seconds by name. What an entry asks of the GPUs is what
/// the variables say that gpu_add_test() and gpu_discover_tests() give it. Throws Error if the text is not such a
/// document, and InvalidSetting, naming the test, for a variable that gputest would refuse.
[[nodiscard]] CtestSuite parse_ctest_suite(const std::string& json, const std::map<std::string, double>& times = {});

} // namespace gputest::insights
