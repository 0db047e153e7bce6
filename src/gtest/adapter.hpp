// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "known_needs.hpp"

#include <gputest/session.hpp>
#include <gputest/test_run.hpp>
#include <gputest/test_sequence.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gputest::detail {

/// Whether this is the child of a threadsafe death test: it runs the executable again, for one statement of a test, and
/// the parent holds what it needs.
[[nodiscard]] bool is_death_test_child();

/// The listener that gives GoogleTest's events to the sequence around a test: what tests need, and how their skips and
/// failures are reported.
///
/// Reporting a failure never throws out of it, even if another listener throws.
class Adapter final : public ::testing::EmptyTestEventListener {
public:
  static Adapter& instance();

  /// Appends it to GoogleTest's listeners, which own it then. Does nothing the second time.
  static void listen();

  /// Each annotation that names nothing is a test. Else they fail the program.
  void misnamed_are_tests() { misnamed_are_tests_ = true; }

  /// The tests that run next are another entry's, in a process that runs one case after another. It keeps its devices,
  /// and has its place in the ledger for all cases of the executable that may run so; or, if it announces the memory of
  /// each, for this one at first. Throws Error if a setting of the entry cannot be used.
  void begin_case(bool announces_each_case);

  /// Before anything else of the program's: its tests begin.
  void begin_program();

  /// Chooses devices and enters the ledger for the tests that GoogleTest will run. Does nothing the second time, or if
  /// no test will run that uses a GPU. Blocks as Session::enter() does. An error fails each test.
  void begin(const ::testing::UnitTest& unit_test);

  [[nodiscard]] bool begun() const { return begun_; }

  void OnTestProgramStart(const ::testing::UnitTest& unit_test) override;
  void OnEnvironmentsSetUpEnd(const ::testing::UnitTest& unit_test) override;

  /// Leases for a suite that has its own lease. If the lease is not granted, or if none of its tests can run,
  /// SetUpTestSuite() does not run.
  void OnTestSuiteStart(const ::testing::TestSuite& suite) override;
  void OnTestSuiteEnd(const ::testing::TestSuite& suite) override;

  /// Leases what the starting test is known to need, or skips or fails it.
  void OnTestStart(const ::testing::TestInfo& test) override;

  /// If it is an out of memory, finds who has more than its lease. Any thread.
  void OnTestPartResult(const ::testing::TestPartResult& result) noexcept override;

  /// Gives back, and fails the test if it has left a problem behind.
  void OnTestEnd(const ::testing::TestInfo& test) override;

  /// Counts over all iterations of --gtest_repeat; GoogleTest itself counts only the last one.
  void OnTestIterationEnd(const ::testing::UnitTest& unit_test, int iteration) override;

  /// Tells CTest that the tests have ended, or says why none of them ran.
  void OnTestProgramEnd(const ::testing::UnitTest& unit_test) override;

  /// Corrects the lease if the fixture, once constructed, differs from what was known.
  void correct(const SuiteFixture& fixture, const ::testing::TestInfo& test);

  /// What the process returns if GoogleTest would return `result`.
  [[nodiscard]] int exit_code(int result) const;

  /// What the process returns in an entry if it was started in a way in which no test can run.
  [[nodiscard]] static int fail_without_tests(const std::string& why);

  /// Leases for a section of the test. Throws NestedLease if a lease is held.
  [[nodiscard]] Lease lease(const Request& request, const ::testing::TestInfo& test);

private:
  [[nodiscard]] Request request_of(const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                                   std::optional<MemoryClass> fixture) const;
  [[nodiscard]] TestNeeds needs_of(const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                                   const SuiteFixture& fixture) const;
  [[nodiscard]] Plan plan_for(const ::testing::UnitTest& unit_test, const Request& entry) const;
  static void add_to(Plan& plan, const ::testing::TestSuite& suite, const ::testing::TestInfo& test,
                     const Request& entry);
  void watch_set_up(const ::testing::TestSuite& suite);
  [[nodiscard]] bool is_skipped_by_googletest(const ::testing::TestInfo& test);
  [[nodiscard]] bool can_run_any(const ::testing::TestSuite& suite);
  [[nodiscard]] Outcome noted(Outcome outcome, const TestNeeds& needs);
  void report(const Findings& findings, const char* file, int line);

  void compare_with_entry(const ::testing::UnitTest& unit_test, TestRun::End how);

  bool begun_ = false;
  bool misnamed_are_tests_ = false;
  bool reporting_ = false; ///< a failure that gputest itself adds
  bool runs_case_by_case_ = false;
  bool announces_each_case_ = false;
  std::set<std::string> selected_tests_; ///< in any run of this process
  int selected_ = 0;
  int skipped_ = 0;
  int ran_ = 0;            ///< or were skipped by themselves
  bool failed_ = false;    ///< in an iteration of this run
  bool forbidden_ = false; ///< nothing ran, and a setting forbids that
  std::optional<TestRun::End> end_;
  TestSequence sequence_;
  std::optional<Request> suite_request_; ///< what the running suite asks one lease for
  bool suite_is_leased_ = false;         ///< and it has it
  std::string set_up_of_suite_;          ///< the SetUpTestSuite() that has run since anything was counted
  bool suite_begins_ = false;            ///< none of its tests has begun
  bool rest_is_skipped_ = false;         ///< of the suite, by GoogleTest
  bool watches_set_up_ = false;          ///< because tests of its suite say that they use no GPU
  Findings of_set_up_;                   ///< which counts for each of those
  std::string running_;                  ///< the test or, before its first test, the suite
  std::string out_of_memory_;            ///< what was found when the running test ran out of memory
  std::string leased_; ///< for the running test: recorded at its end, since a test may look at its properties
};

} // namespace gputest::detail
