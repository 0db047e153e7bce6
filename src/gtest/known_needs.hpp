// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/gtest/annotate.hpp>

#if !__has_include(<gtest/gtest.h>)
#error "gputest::gputest needs GoogleTest 1.12 or newer: use find_package(GTest), FetchContent or add_subdirectory()"
#endif
#include <gtest/gtest.h>
#if !defined(GTEST_FLAG_GET)
#error "gputest::gputest needs GoogleTest 1.12 or newer: add a newer one to the project"
#endif

#include <optional>
#include <string>
#include <vector>

namespace gputest::detail {

// What is known of tests before any of the user's code runs.

/// The suite of the tests that report misnamed annotations. They need no GPU.
inline constexpr const char* misnamed_suite = "GputestNeeds";

/// `Sort.Keys`
[[nodiscard]] std::string name_of(const ::testing::TestInfo& test);

/// Calls `function(suite, test)` for each test of the executable, whether it runs or not.
template <class Function>
void for_each_test(const ::testing::UnitTest& unit_test, Function function) {
  for (int s = 0; s < unit_test.total_test_suite_count(); ++s) {
    const auto& suite = *unit_test.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      function(suite, *suite.GetTestInfo(t));
    }
  }
}

/// What a suite's fixture is. All tests of a suite have the same.
struct SuiteFixture {
  std::optional<MemoryClass> memory_class; ///< of SmallTest, MediumTest, LargeTest
  bool scoped = false;                     ///< of ScopedTest
  bool host = false;                       ///< of HostTest: no GPU is used
  bool known = true;                       ///< false: it hides both functions
};

/// What GPUTEST_NEEDS says of a test; nothing if it has no annotation.
[[nodiscard]] Needs needs_of_test(const ::testing::TestInfo& test);
[[nodiscard]] Needs needs_of_suite(const ::testing::TestSuite& suite);

/// Whether a test uses a GPU, as far as known.
[[nodiscard]] bool uses_gpu(const ::testing::TestSuite& suite, const ::testing::TestInfo& test);
[[nodiscard]] bool uses_gpu(const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                            const SuiteFixture& fixture);

/// Whether a test is disabled, by GoogleTest's rule for the names of suites and of tests.
[[nodiscard]] bool is_disabled(const ::testing::TestSuite& suite, const ::testing::TestInfo& test);

/// The contradiction in the annotations of a test, of its suite and in its fixture, with file and line; empty if there
/// is none.
[[nodiscard]] std::string contradiction_of(const ::testing::TestSuite& suite, const ::testing::TestInfo& test);

/// The fixture of a suite, by the functions that GoogleTest has stored with it: SetUpTestSuite() and
/// TearDownTestSuite() of gputest's fixtures are gputest's own, unless the user's fixture hides them.
[[nodiscard]] SuiteFixture fixture_of(const ::testing::TestSuite& suite);

/// What is leased for a test, as far as it is known before it runs: its own request, or that of its suite's lease.
/// Where neither says anything, that of the CTest entry.
[[nodiscard]] Request known_request(const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                                    const Request& entry);

/// Why a test has to run in a process of its own, such as `it is a death test`; empty: it need not. `entry` is as for
/// known_request().
[[nodiscard]] std::string reason_for_own_process(const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                                                 const Request& entry);

/// Records the fixture of a suite, once it was constructed.
void remember_fixture(const ::testing::TestSuite& suite, const SuiteFixture& fixture);

/// Whether a suite has a SetUpTestSuite(), or a TearDownTestSuite(), of the user's.
[[nodiscard]] bool has_set_up(const ::testing::TestSuite& suite);
[[nodiscard]] bool has_tear_down(const ::testing::TestSuite& suite);

/// Prevents a suite from running its SetUpTestSuite() and TearDownTestSuite(), until allow_set_up().
void forbid_set_up(const ::testing::TestSuite& suite);
void allow_set_up();

/// An annotation that names nothing in this executable.
struct Misnamed {
  std::string name; ///< as a name of a test: `Sort_Keys`
  std::string text;
  const char* file;
  int line;
};
[[nodiscard]] std::vector<Misnamed> misnamed_annotations(const ::testing::UnitTest& unit_test);

/// Adds a test that fails for each of them, so that one typing error fails one test, with its file and line.
void register_misnamed_annotations(const ::testing::UnitTest& unit_test);

} // namespace gputest::detail
