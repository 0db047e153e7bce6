#include <gputest/gtest/run_all_tests.hpp>

#include "current_session.hpp"

namespace gputest {

using detail::CurrentSession;

namespace {

/// Counts over all iterations of --gtest_repeat; GoogleTest itself counts only the last one.
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

/// A test for each annotation that names nothing, so that one typing error fails one test, with its file and line.
class MisnamedAnnotation : public ::testing::Test {
public:
  explicit MisnamedAnnotation(detail::Misnamed annotation) : annotation_{std::move(annotation)} {}
  void TestBody() override { ADD_FAILURE_AT(annotation_.file, annotation_.line) << annotation_.text; }

private:
  detail::Misnamed annotation_;
};

bool misnamed_are_tests = false;

void register_misnamed_annotations() {
  for (const auto& annotation : detail::misnamed_annotations(*::testing::UnitTest::GetInstance())) {
    ::testing::RegisterTest(detail::misnamed_suite, annotation.name.c_str(), nullptr, nullptr, annotation.file,
                            annotation.line, [annotation]() -> ::testing::Test* {
                              return new MisnamedAnnotation{annotation}; // NOLINT(cppcoreguidelines-owning-memory)
                            });
  }
  misnamed_are_tests = true;
}

} // namespace

void Environment::SetUp() { CurrentSession::instance().begin(*::testing::UnitTest::GetInstance()); }

void Listener::OnTestProgramStart(const ::testing::UnitTest& unit_test) {
  // Before any environment runs: one that was registered before ours may use CUDA.
  CurrentSession::instance().begin(unit_test);
  if (!misnamed_are_tests) {
    for (const auto& annotation : detail::misnamed_annotations(unit_test)) {
      if (detail::concerns_this_run(annotation, unit_test)) {
        ADD_FAILURE_AT(annotation.file, annotation.line) << annotation.text;
      }
    }
  }
}

void Listener::OnTestSuiteStart(const ::testing::TestSuite& suite) { CurrentSession::instance().begin_suite(suite); }

void Listener::OnTestStart(const ::testing::TestInfo& test) { CurrentSession::instance().begin_test(test); }

void Listener::OnTestEnd(const ::testing::TestInfo& test) { CurrentSession::instance().end_test(test); }

void Listener::OnTestSuiteEnd(const ::testing::TestSuite& suite) { CurrentSession::instance().end_suite(suite); }

int run_all_tests() {
  auto& unit_test = *::testing::UnitTest::GetInstance();
  static const Tally* const tally = [&] {
    register_misnamed_annotations();
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
