#include <gputest/gtest/run_all_tests.hpp>

#include <gputest/gtest/environment.hpp>
#include <gputest/gtest/listener.hpp>

#include <gtest/gtest.h>

namespace gputest {

int run_all_tests() {
  auto& unit_test = *::testing::UnitTest::GetInstance();
  static const bool installed = [&] {
    // GoogleTest owns both.
    ::testing::AddGlobalTestEnvironment(new Environment); // NOLINT(cppcoreguidelines-owning-memory)
    unit_test.listeners().Append(new Listener);           // NOLINT(cppcoreguidelines-owning-memory)
    return true;
  }();
  static_cast<void>(installed);
  const int result = RUN_ALL_TESTS();
  const int ran = unit_test.test_to_run_count();
  return result == 0 && ran > 0 && unit_test.skipped_test_count() == ran ? skipped_exit_code : result;
}

} // namespace gputest
