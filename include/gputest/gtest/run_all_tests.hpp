// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/outcome.hpp>

#include <gtest/gtest.h>

namespace gputest {

/// Installs gputest and runs all tests: `return gputest::run_all_tests();` after testing::InitGoogleTest().
///
/// Registers an Environment and calls RUN_ALL_TESTS(). Returns its result; or skipped_exit_code if
/// tests were selected, none failed and all were skipped, by themselves or by an environment, so that CTest does not
/// report them as passed. In an entry of gpu_add_test(), one test that gputest skipped is enough, and so is a
/// GoogleTest shard without tests. There the result is GoogleTest's, because main() may take any but 0 for a failure:
/// the watcher makes skipped_exit_code of the 0 with which the process exits, or with MEMORY none the process itself
/// unwatched_skip_code, unless a script has started it.
/// It is a failure there if no test was selected, and the message says why. If main() ignores the result and returns 0
/// although tests failed, in this call or an earlier one, the process exits with 1. With MEMORY none it does so, too,
/// if a test of the entry did not run.
[[nodiscard]] int run_all_tests();

/// Installs gputest where a main() calls RUN_ALL_TESTS() itself: `AddGlobalTestEnvironment(new gputest::Environment)`.
///
/// The constructor only appends a listener to GoogleTest's. The listener chooses this process's devices, pins them, and
/// enters the ledger before any environment is set up, which may block until a device has room for one more process. It
/// leases before each test's fixture is constructed, gives back after it is destroyed, and skips or fails the test,
/// with the reason, if its memory is not granted. A suite with a lease of its own holds it from before SetUpTestSuite()
/// until after TearDownTestSuite(). In an entry of gpu_add_test() it tells CTest that the tests have ended. If all
/// tests were skipped and the process exits with 0, the exit code becomes skipped_exit_code, or unwatched_skip_code.
///
/// gpu_discover_tests() needs run_all_tests(), which can list the tests. Without it an annotation that names no test
/// fails the program, but no single test.
class Environment : public ::testing::Environment {
public:
  Environment();
  void SetUp() override;
};

/// For a main() that installs gputest by `listeners().Append(new gputest::Listener)`, alone or beside an Environment:
/// the constructor appends the same listener, once.
class Listener : public ::testing::EmptyTestEventListener {
public:
  Listener();
};

} // namespace gputest
