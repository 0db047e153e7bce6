#include <gputest/gtest/fixtures.hpp>

#include <gputest/gtest/scoped.hpp>

#include "gtest/current_session.hpp"
#include "gtest/suites.hpp"

namespace gputest {

using detail::CurrentSession;

namespace {

void fail_unprotected() {
  GTEST_FAIL() << "this test's fixture is gputest's, but gputest is not running: link gputest::main in place of "
                  "gtest_main, or end your main() with `return gputest::run_all_tests();`";
}

const ::testing::TestInfo& running_test() { return *::testing::UnitTest::GetInstance()->current_test_info(); }

} // namespace

ClassTest::ClassTest(MemoryClass memory_class) {
  auto& current = CurrentSession::instance();
  if (!current.begun()) {
    fail_unprotected();
    return;
  }
  detail::remember_fixture({memory_class, false});
  if (!HasFatalFailure() && !IsSkipped()) {
    current.take(current.requirement_of(running_test(), memory_class), running_test());
  }
}

void ClassTest::announce(MemoryClass memory_class) { detail::remember_fixture({memory_class, false}); }

void ScopedTest::SetUpTestSuite() { detail::remember_fixture({std::nullopt, true}); }

ScopedTest::ScopedTest() {
  auto& current = CurrentSession::instance();
  if (!current.begun()) {
    fail_unprotected();
    return;
  }
  detail::remember_fixture({std::nullopt, true});
  current.release(running_test());
}

} // namespace gputest
