#include <gputest/gtest/run_all_tests.hpp>

#include <gputest/gtest/environment.hpp>
#include <gputest/gtest/listener.hpp>

#include <gtest/gtest.h>

namespace gputest {

namespace {

/// Counts over all iterations of --gtest_repeat; GoogleTest itself knows of the last one only.
class Tally : public ::testing::EmptyTestEventListener {
public:
  void OnTestIterationEnd(const ::testing::UnitTest& unit_test, int /*iteration*/) override {
    selected_ += unit_test.test_to_run_count();
    skipped_ += unit_test.skipped_test_count();
  }

  [[nodiscard]] bool all_skipped() const { return selected_ > 0 && skipped_ == selected_; }

private:
  int selected_ = 0;
  int skipped_ = 0;
};

} // namespace

int run_all_tests() {
  auto& unit_test = *::testing::UnitTest::GetInstance();
  static const Tally* const tally = [&] {
    // GoogleTest owns all three.
    ::testing::AddGlobalTestEnvironment(new Environment); // NOLINT(cppcoreguidelines-owning-memory)
    unit_test.listeners().Append(new Listener);           // NOLINT(cppcoreguidelines-owning-memory)
    auto* counts = new Tally;                             // NOLINT(cppcoreguidelines-owning-memory)
    unit_test.listeners().Append(counts);
    return counts;
  }();
  const int result = RUN_ALL_TESTS();
  return result == 0 && tally->all_skipped() ? skipped_exit_code : result;
}

} // namespace gputest
