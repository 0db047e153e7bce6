#pragma once

#include <gtest/gtest.h>

namespace gputest {

/// Gives each test its memory: leases before the fixture is built, settles and gives back after it is gone.
///
/// Skips or fails the test, with the reason, where its memory cannot be had. The constructor does nothing. It is enough
/// to call run_all_tests(), which appends one.
class Listener : public ::testing::EmptyTestEventListener {
public:
  void OnTestProgramStart(const ::testing::UnitTest& unit_test) override;
  void OnTestStart(const ::testing::TestInfo& test_info) override;
  void OnTestEnd(const ::testing::TestInfo& test_info) override;
};

} // namespace gputest
