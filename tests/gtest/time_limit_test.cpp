// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/test_status_page.hpp"
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

class TimeLimit : public SuiteTest {
protected:
  TimeLimit() {
    set("GPUTEST_TEST", "sort_keys");
    set("GPUTEST_ENTRY", "ctest");
  }

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
  EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("gputest: timed out: sort_keys: Hangs.in_the_second has run for " + limit() +
                                   " s, the limit (TIMEOUT). It ends here"));
  EXPECT_TRUE(entries().empty()) << "its lease is given back";
}

TEST_F(TimeLimit, ends_a_test_that_blocks_all_signals_also_where_a_failure_is_expected) {
  set("GPUTEST_ENTRY", "will_fail");
  const Ended ended = run_limited({"--gtest_filter=Hangs.deaf"});
  EXPECT_EQ(ended.signal, SIGKILL) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("gputest: timed out: sort_keys: Hangs.deaf "));
}

TEST_F(TimeLimit, does_not_count_waiting) {
  os::TestStatusPage page; // as of who watches
  auto holder = start_holder();
  set("GPUTEST_ENTRY", page.path());
  auto waiter = start("limits", {"--gtest_filter=Waits.*"});
  waiter.wait_for_err(" waits for "); // it says so after a second
  EXPECT_TRUE(page.observe_waits());
  const auto said = page.waits_for();
  EXPECT_NE(said, "");
  while (page.waits_for() == said) { // which says for how long the holder has it
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  EXPECT_EQ(page.report().running, "Waits.for_most_of_the_device");
  EXPECT_EQ(holder.finish().exit_code, 0);
  const Ended ended = waiter.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(count(ended.err, " waits for "), 1U) << ended.err;
  EXPECT_FALSE(page.observe_waits());
  EXPECT_GE(page.waited(), std::chrono::seconds{1});
}

} // namespace
} // namespace gputest::tests
