// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputest::detail {

/// Writes the tests that --gtest_filter selects, disabled ones too, into a file for gpu_discover_tests(), and prints
/// them as --gtest_list_tests does. Runs no test, no fixture and no environment. In place of RUN_ALL_TESTS(); of
/// several calls, each adds its tests.
///
/// Returns 0, or 1 after a message on stderr if the list cannot be written.
[[nodiscard]] int list_tests(::testing::UnitTest& unit_test, const std::string& file);

/// Why GoogleTest has run no test of this executable.
struct NothingSelected {
  std::string why;              ///< in words
  bool in_other_shards = false; ///< the filter selects tests, which are those of other shards
};
[[nodiscard]] NothingSelected why_no_test_was_selected(const ::testing::UnitTest& unit_test);

/// Whether a value of --gtest_filter selects the test with this name.
[[nodiscard]] bool selects(const std::string& filter, const std::string& name);

/// The tests that `filter` selects and that are not in `selected`, of those that may run: enabled, and of this shard.
/// Of a pattern with `*` none if any of its tests is in `selected`.
[[nodiscard]] std::vector<std::string> left_out(const ::testing::UnitTest& unit_test, const std::string& filter,
                                                const std::set<std::string>& selected);

/// As GoogleTest matches: `*` stands for any text, `?` for any byte. Only the last `*` may have to take more: what is
/// before it has matched as early as it can.
inline bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0; // in the pattern
  std::size_t behind_star = std::string_view::npos;
  std::size_t taken = 0; // where in the name that `*` ends
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      behind_star = ++at;
      taken = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[i])) {
      ++at;
      ++i;
    } else if (behind_star != std::string_view::npos) {
      at = behind_star;
      i = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

} // namespace gputest::detail
