// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace gputest::tests {

/// The exit code of a test executable in which tests were selected, none failed, and every one was skipped. The tests'
/// SKIP_RETURN_CODE in CTest.
inline constexpr int skipped_exit_code = 77;

/// RUN_ALL_TESTS(), whose exit code tells CTest of a skip, and which fails if no test was selected.
///
/// gtest_discover_tests() would take any test for skipped whose output holds GoogleTest's line of a skipped test: one
/// that prints the output of a suite that it has started, too, and even if it fails.
[[nodiscard]] int run_tests();

} // namespace gputest::tests
