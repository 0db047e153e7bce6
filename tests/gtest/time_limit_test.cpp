// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <vector>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

class TimeLimit : public SuiteTest {
protected:
  TimeLimit() { set("GPUTEST_TEST", "sort_keys"); }

  /// Runs these tests, of which one hangs, with a limit that is long enough for that one to begin on this machine.
  Ended run_limited(const std::vector<std::string>& arguments) {
    for (const auto* seconds : {"1", "4", "16"}) {
      set("GPUTEST_TIMEOUT", seconds);
      limit_ = seconds;
      Ended ended = run("limits", arguments);
      if (ended.out.find("hangs\n") != std::string::npos) {
        return ended;
      }
    }
    ADD_FAILURE() << "no test hung within " << limit_ << " s";
    return {};
  }

  [[nodiscard]] const std::string& limit() const { return limit_; }

private:
  std::string limit_;
};

TEST_F(TimeLimit, ends_a_test_and_names_it) {
  const Ended ended = run_limited({"--gtest_filter=Hangs.first_leases:Hangs.in_the_second"});
  EXPECT_EQ(ended.signal, SIGKILL) << ended.out << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("gputest: timed out: sort_keys: Hangs.in_the_second has run for " + limit() +
                        " s, the limit (TIMEOUT), not counting 0 s in which it waited for a GPU. It ends here, and so "
                        "do the processes that it started. If it needs longer, raise TIMEOUT in gpu_add_test() "
                        "or gpu_discover_tests()\n"));
}

TEST_F(TimeLimit, ends_a_test_that_uses_no_gpu) {
  const Ended ended = run_limited({"--gtest_filter=Hangs.without_a_gpu"});
  EXPECT_EQ(ended.signal, SIGKILL) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("gputest: timed out: sort_keys: Hangs.without_a_gpu "));
}

TEST_F(TimeLimit, gives_the_lease_back) {
  EXPECT_EQ(run_limited({"--gtest_filter=Hangs.for_ever"}).signal, SIGKILL);
  EXPECT_TRUE(entries().empty());
}

TEST_F(TimeLimit, that_cannot_be_used_fails_the_tests) {
  set("GPUTEST_TIMEOUT", "soon");
  const Ended ended = run("limits", {"--gtest_filter=Hangs.for_ever"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("GPUTEST_TIMEOUT='soon' is no time limit; it is a positive number of seconds"));
}

// The test compares what passed with what was counted.
TEST_F(TimeLimit, does_not_count_waiting) {
  auto holder = start_holder();
  set("GPUTEST_TIMEOUT", "3600");
  auto waiter = start("limits", {"--gtest_filter=Waits.*"});
  waiter.wait_for_err(" waits for "); // it says so after a second
  EXPECT_EQ(holder.finish().exit_code, 0);
  const Ended ended = waiter.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
}

class TimeLimitOfDeathTest : public TimeLimit, public testing::WithParamInterface<std::string> {};

TEST_P(TimeLimitOfDeathTest, ends_parent_and_child) {
  // It returns when nobody has the output any more.
  const Ended ended = run_limited({"--gtest_filter=Hangs.in_a_death_test", "--gtest_death_test_style=" + GetParam()});
  EXPECT_EQ(ended.signal, SIGKILL) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("gputest: timed out: sort_keys: Hangs.in_a_death_test "))
      << "its standard error belongs to GoogleTest";
  EXPECT_EQ(count(ended.out, "gputest: timed out: "), 1U) << ended.out;
}

INSTANTIATE_TEST_SUITE_P(Styles, TimeLimitOfDeathTest, testing::Values("fast", "threadsafe"),
                         [](const auto& test) { return test.param; });

} // namespace
} // namespace gputest::tests
