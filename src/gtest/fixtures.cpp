// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gtest/fixtures.hpp>

#include "current_session.hpp"
#include "test_part.hpp"

#include <gputest/error.hpp>

namespace gputest {

using detail::CurrentSession;

namespace {

void fail_unprotected() {
  const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
  detail::record_part(::testing::TestPartResult::kFatalFailure, test.file(), test.line(),
                      "this test's fixture is gputest's, but gputest is not running: link gputest::main in place of "
                      "gtest_main, or end your main() with `return gputest::run_all_tests();`");
}

void correct(const detail::SuiteFixture& fixture) {
  auto& current = CurrentSession::instance();
  if (current.begun()) {
    current.correct(fixture, *::testing::UnitTest::GetInstance()->current_test_info());
  } else {
    fail_unprotected();
  }
}

} // namespace

ClassTest::ClassTest(MemoryClass memory_class) { correct({memory_class}); }

ScopedTest::ScopedTest() { correct({std::nullopt, true}); }

HostTest::HostTest() {
  if (CurrentSession::instance().begun()) { // without gputest it needs no more than with it
    correct({std::nullopt, false, true});
  }
}

// Their addresses identify the fixtures (known_needs.cpp); they have no other purpose. Each does something that no
// other function does, because a linker that folds equal functions would give them one address.
namespace {
volatile int suite_function = 0;
} // namespace

void SmallTest::SetUpTestSuite() { suite_function = 1; }
void SmallTest::TearDownTestSuite() { suite_function = 2; }
void MediumTest::SetUpTestSuite() { suite_function = 3; }
void MediumTest::TearDownTestSuite() { suite_function = 4; }
void LargeTest::SetUpTestSuite() { suite_function = 5; }
void LargeTest::TearDownTestSuite() { suite_function = 6; }
void ScopedTest::SetUpTestSuite() { suite_function = 7; }
void ScopedTest::TearDownTestSuite() { suite_function = 8; }
void HostTest::SetUpTestSuite() { suite_function = 9; }
void HostTest::TearDownTestSuite() { suite_function = 10; }

Lease lease(const Request& request) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr || !CurrentSession::instance().begun()) {
    throw Error{"a lease for " + to_string(request) +
                " was asked for outside of a test that gputest runs; ask in the test's body, link gputest::main in "
                "place of gtest_main or end your main() with `return gputest::run_all_tests();`"};
  }
  return CurrentSession::instance().lease(request, *test);
}

} // namespace gputest
