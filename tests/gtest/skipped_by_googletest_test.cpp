// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The memory is another's, and a test that waits for it fails.
class SkippedByGoogleTest : public SuiteTest {
protected:
  SkippedByGoogleTest() { set("GPUTEST_WAIT_LIMIT", "1s"); }

  Ended run_beside_holder(const std::vector<std::string>& arguments) {
    auto holder = start_holder();
    auto ended = run("skipped_by_googletest", arguments);
    EXPECT_EQ(holder.finish().exit_code, 0);
    EXPECT_THAT(ended.err, Not(HasSubstr("waits for")));
    return ended;
  }
};

TEST_F(SkippedByGoogleTest, waits_for_no_memory_after_a_failure_with_fail_fast) {
  const auto ended = run_beside_holder({"--gtest_fail_fast", "--gtest_filter=-Broken.*:Skipping.*"});
  for (const std::string suite : {"Failing", "Shared", "Later"}) {
    EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] " + suite + ".needs_memory"));
  }
  EXPECT_THAT(ended.out, HasSubstr("1 FAILED TEST"));
}

TEST_F(SkippedByGoogleTest, waits_for_no_memory_if_the_set_up_of_its_suite_has_failed) {
  const auto ended = run_beside_holder({"--gtest_filter=Broken.*"});
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Broken.needs_memory"));
  EXPECT_THAT(ended.out, Not(HasSubstr("FAILED TEST\n")));
}

#if defined(GTEST_HAS_NOTIFICATION_) // GoogleTest 1.14; before, it runs them
TEST_F(SkippedByGoogleTest, waits_for_no_memory_if_the_set_up_of_its_suite_has_skipped) {
  const auto ended = run_beside_holder({"--gtest_filter=Skipping.*"});
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Skipping.needs_memory"));
  EXPECT_EQ(ended.exit_code, 77) << "all were skipped";
}
#endif

TEST_F(SkippedByGoogleTest, does_wait_if_nothing_has_failed) {
  auto holder = start_holder();
  const auto reports = reports_of("skipped_by_googletest", "Later.*");
  EXPECT_THAT(reports.at("Later.needs_memory").failures, HasSubstr("GPUTEST_WAIT_LIMIT"));
  EXPECT_EQ(holder.finish().exit_code, 0);
}

} // namespace
} // namespace gputest::tests
