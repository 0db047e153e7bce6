#pragma once

namespace gputest {

/// The exit code of a test executable in which nothing failed and nothing ran; gpu_add_test() sets SKIP_RETURN_CODE to
/// it.
inline constexpr int skipped_exit_code = 77;

/// Installs gputest and runs all tests: `return gputest::run_all_tests();` after testing::InitGoogleTest().
///
/// Registers an Environment, appends a Listener and calls RUN_ALL_TESTS(). Returns its result, but skipped_exit_code
/// where tests were selected, none failed and every one was skipped, so that CTest does not say passed.
[[nodiscard]] int run_all_tests();

} // namespace gputest
