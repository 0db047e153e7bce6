// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace gputest {

/// Runs the test cases of a Catch2 (3.3 or newer) executable, each with its GPU memory: the main() of gputest::catch2,
/// and the call for your own main(), in place of Catch::Session().run(argc, argv).
///
/// A test case declares its needs by tags: `[gpu_small]`, `[gpu_medium]`, `[gpu_large]`; `[gpu:3GiB]`, bytes per
/// device; `[gpus:2]`, a number of distinct devices. The CTest entry supplies what the tags leave out. The memory is
/// held from before the test case until after it, including all its sections and generators. If it is not granted, the
/// test case is skipped or fails with the reason. A test case with unusable tags fails.
///
/// Returns Catch2's exit code, but 77 (skipped_exit_code) where test cases were selected, none failed and every one was
/// skipped, so that CTest does not say passed. In an entry of gpu_add_test() it is a failure if no test case ran.
[[nodiscard]] int run_catch2_tests(int argc, char** argv);

} // namespace gputest
