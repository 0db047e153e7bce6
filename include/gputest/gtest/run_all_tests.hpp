// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/outcome.hpp>

#include <gtest/gtest.h>

namespace gputest {

/// Installs gputest and runs all tests: `return gputest::run_all_tests();` after testing::InitGoogleTest().
///
/// Registers an Environment, appends a Listener and calls RUN_ALL_TESTS(). Returns its result; or skipped_exit_code if
/// tests were selected, none failed and all were skipped, by themselves or by an environment, so that CTest does not
/// report them as passed. In an entry of gpu_add_test(), one test that gputest skipped is enough, and so is a
/// GoogleTest shard without tests. There it is a failure if no test was selected, and the message says why. If main()
/// ignores the result and returns 0 although tests failed, in this call or an earlier one, the process exits with 1.
/// With MEMORY none the result is unwatched_skip_code in place of skipped_exit_code, and 1 if a test of the entry did
/// not run.
[[nodiscard]] int run_all_tests();

/// Installs gputest where a main() calls RUN_ALL_TESTS() itself: `AddGlobalTestEnvironment(new gputest::Environment)`.
///
/// Register it before every environment that uses CUDA. The constructor does nothing. SetUp() appends a Listener if
/// there is none, chooses this process's devices, pins them, and enters the ledger. It may block until a device has
/// room for one more process. gpu_discover_tests() needs run_all_tests(), which can list the tests.
class Environment : public ::testing::Environment {
public:
  void SetUp() override;
};

/// Gives each test its memory: leases before the fixture is constructed, gives back after it is destroyed. A suite with
/// a lease of its own holds it from before SetUpTestSuite() until after TearDownTestSuite().
///
/// Skips or fails the test, with the reason, if its memory is not granted. The constructor does nothing.
/// run_all_tests() and Environment append one. If main() appends one itself, gputest starts before all environments.
/// Without run_all_tests() an annotation that names no test fails the program, but no single test. In an entry of
/// gpu_add_test() it tells CTest that the tests have ended. If all tests were skipped and the process exits with 0, the
/// exit code becomes skipped_exit_code, or unwatched_skip_code.
class Listener : public ::testing::EmptyTestEventListener {
public:
  void OnTestProgramStart(const ::testing::UnitTest& unit_test) override;
  void OnEnvironmentsSetUpEnd(const ::testing::UnitTest& unit_test) override;
  void OnTestSuiteStart(const ::testing::TestSuite& suite) override;
  void OnTestStart(const ::testing::TestInfo& test) override;
  void OnTestPartResult(const ::testing::TestPartResult& result) override;
  void OnTestEnd(const ::testing::TestInfo& test) override;
  void OnTestSuiteEnd(const ::testing::TestSuite& suite) override;
  void OnTestIterationEnd(const ::testing::UnitTest& unit_test, int iteration) override;
  void OnTestProgramEnd(const ::testing::UnitTest& unit_test) override;
};

} // namespace gputest
