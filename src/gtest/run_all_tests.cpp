// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/gtest/run_all_tests.hpp>

#include "adapter.hpp"
#include "listing.hpp"
#include "test_part.hpp"

#include <gputest/error.hpp>
#include <gputest/test_list.hpp>
#include <gputest/worker.hpp>

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GPUTEST_HAS_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define GPUTEST_HAS_THREAD_SANITIZER
#endif

namespace gputest {

namespace detail {

struct RepeaterOfListeners {
  using Member = ::testing::TestEventListener* (::testing::TestEventListeners::*)();
  friend Member member_of(RepeaterOfListeners /*tag*/);
};
template struct PrivateMember<RepeaterOfListeners, &::testing::TestEventListeners::repeater>;

} // namespace detail

using detail::Adapter;

/// The constructor of what testing::AssertionException is derived from. A GoogleTest that was compiled without
/// exceptions has none, and catches none either. A function, as link-time optimization wants it.
void construct_assertion_exception(void*, const ::testing::TestPartResult&) __asm__(
    "_ZN7testing8internal26GoogleTestFailureExceptionC2ERKNS_14TestPartResultE") __attribute__((weak));

namespace {

/// GoogleTest keeps what happens outside of tests, and skips those of later runs for it. After a failure there is no
/// later run in this process.
std::string what_environments_left() {
  const auto& result = ::testing::UnitTest::GetInstance()->ad_hoc_test_result();
  return detail::reporter_is_replaced()      ? "a ScopedFakeTestPartResultReporter is left, which hides failures"
         : result.Skipped()                  ? "an Environment has skipped its tests"
         : result.Failed()                   ? "a check has failed outside of tests, after GoogleTest had its result"
         : result.test_property_count() != 0 ? "a property was recorded outside of its test"
                                             : "";
}

/// Leaves RUN_ALL_TESTS() by the exception that GoogleTest lets listeners throw, after all listeners have heard of the
/// end. Since 1.15 GoogleTest would delete the environments then, and the next case needs them. In any case it deletes
/// them when the process ends.
class EndOfCase : public ::testing::EmptyTestEventListener {
public:
  [[nodiscard]] int run_all_tests() {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    listeners.Release(this);
    listeners.Append(this); // the last one hears of an end first
    has_passed_ = true;
    stage_ = Stage::running;
    try {
      const int result = RUN_ALL_TESTS();
      if (stage_ != Stage::left) {
        return result;
      }
    } catch (...) { // with --gtest_catch_exceptions=0, or where GoogleTest catches none
      if (stage_ != Stage::left) {
        throw;
      }
    }
    return has_passed_ ? EXIT_SUCCESS : EXIT_FAILURE;
  }

  void OnTestIterationEnd(const ::testing::UnitTest& unit_test, int /*iteration*/) override {
    has_passed_ = has_passed_ && unit_test.Passed();
  }

  void OnTestProgramEnd(const ::testing::UnitTest& unit_test) override {
    if (stage_ != Stage::running) {
      return;
    }
    has_passed_ = has_passed_ && unit_test.Passed(); // other listeners may have failed the iteration
    stage_ = Stage::telling;
    (::testing::UnitTest::GetInstance()->listeners().*member_of(detail::RepeaterOfListeners{}))()->OnTestProgramEnd(
        unit_test);
    stage_ = Stage::left;
#if GTEST_HAS_EXCEPTIONS
    if (&construct_assertion_exception != nullptr) {
      throw ::testing::AssertionException{::testing::TestPartResult {
        ::testing::TestPartResult::kSuccess,
        "",
        -1,
        "the end of a case"
      }};
    }
#endif
    throw stage_;
  }

private:
  enum class Stage { running, telling, left };

  bool has_passed_ = true;
  Stage stage_ = Stage::running;
};

/// Runs each case as a process of its own would: with its environments, and its suite's SetUpTestSuite().
int run_cases(detail::Worker& worker) {
  auto& adapter = Adapter::instance();
  auto* const end_of_case = new EndOfCase; // NOLINT(cppcoreguidelines-owning-memory): GoogleTest owns it
  ::testing::UnitTest::GetInstance()->listeners().Append(end_of_case);
#if defined(GPUTEST_HAS_THREAD_SANITIZER)
  std::thread{[] {}}.join(); // with the first one it starts a thread of its own, which is no case's
#endif
  while (const auto filter = worker.next_case()) {
    try {
      adapter.begin_case(worker.announces_each_case());
    } catch (const Error& error) {
      worker.ask_for_own_process(error.what());
      continue;
    }
    GTEST_FLAG_SET(filter, *filter);
    adapter.begin_program();
    const int exit_code = adapter.exit_code(end_of_case->run_all_tests());
    const bool selects_none = ::testing::UnitTest::GetInstance()->test_to_run_count() == 0;
    if (!worker.end_case(exit_code, what_environments_left()) ||
        (selects_none && exit_code == EXIT_FAILURE)) { // a later case's end must not hide that
      break;
    }
  }
  return worker.exit_code();
}

} // namespace

Environment::Environment() { Adapter::listen(); }
Listener::Listener() { Adapter::listen(); }

/// In the child of a death test, in which GoogleTest calls no listener.
void Environment::SetUp() { Adapter::instance().begin(*::testing::UnitTest::GetInstance()); }

int run_all_tests() {
  static const bool installed = [] {
    detail::register_misnamed_annotations(*::testing::UnitTest::GetInstance());
    Adapter::instance().misnamed_are_tests();
    ::testing::AddGlobalTestEnvironment(new Environment); // NOLINT(cppcoreguidelines-owning-memory): GoogleTest owns it
    return true;
  }();
  static_cast<void>(installed);
  if (const auto file = test_list_file()) {
    if (detail::TestRun::of_process().in_entry()) {
      return Adapter::fail_without_tests("GPUTEST_LIST_FILE is set, with which they are only listed. Unset it");
    }
    return detail::list_tests(*::testing::UnitTest::GetInstance(), *file);
  }
  if (auto* const worker = detail::Worker::of_process()) {
    return run_cases(*worker);
  }
  Adapter::instance().begin_program(); // GoogleTest may end the process before it calls a listener
  return detail::TestRun::of_process().code_of_main(Adapter::instance().exit_code(RUN_ALL_TESTS()));
}

} // namespace gputest
