// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gtest/fixtures.hpp>

#include "adapter.hpp"
#include "test_part.hpp"

#include <gputest/error.hpp>

namespace gputest {

using detail::Adapter;

namespace {

void fail_unprotected() {
  const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
  detail::record_part(::testing::TestPartResult::kFatalFailure, test.file(), test.line(),
                      "this test's fixture is gputest's, but gputest is not running: link gputest::main in place of "
                      "gtest_main, or end your main() with `return gputest::run_all_tests();`");
}

void correct(const detail::SuiteFixture& fixture) {
  auto& adapter = Adapter::instance();
  if (adapter.begun()) {
    adapter.correct(fixture, *::testing::UnitTest::GetInstance()->current_test_info());
  } else {
    fail_unprotected();
  }
}

} // namespace

ClassTest::ClassTest(MemoryClass memory_class) { correct({memory_class}); }

ScopedTest::ScopedTest() { correct({std::nullopt, true}); }

HostTest::HostTest() {
  if (Adapter::instance().begun()) { // without gputest it needs no more than with it
    correct({std::nullopt, false, true});
  }
}

Lease lease(const Request& request) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr || !Adapter::instance().begun()) {
    throw Error{"a lease for " + to_string(request) +
                " was asked for outside of a test that gputest runs; ask in the test's body, link gputest::main in "
                "place of gtest_main or end your main() with `return gputest::run_all_tests();`"};
  }
  return Adapter::instance().lease(request, *test);
}

} // namespace gputest
