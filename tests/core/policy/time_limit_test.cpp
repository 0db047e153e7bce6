// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/time_limit.hpp"

#include <gtest/gtest.h>

namespace gputest::policy {
namespace {

TEST(TimeLimits, say_when_they_are_over_what_ran_for_how_long_and_what_to_do) {
  const TimeLimit limit{std::chrono::milliseconds{2500}, "2.5 s"};
  const std::string rest = " has run for 2.5 s, the limit (TIMEOUT), not counting 3 s in which it waited for a GPU. It "
                           "ends here, and so do the processes that it started. If it needs longer, raise TIMEOUT in "
                           "gpu_add_test() or gpu_discover_tests()";
  const std::chrono::milliseconds waited{3900};
  EXPECT_EQ(text_of_time_out({"sort", "Sort.Keys", waited, ""}, limit), "timed out: sort: Sort.Keys" + rest);
  EXPECT_EQ(text_of_time_out({"sort", "", waited, ""}, limit), "timed out: sort" + rest);
  EXPECT_EQ(text_of_time_out({"Sort.Keys", "Sort.Keys", waited, ""}, limit), "timed out: Sort.Keys" + rest);
  EXPECT_EQ(text_of_time_out({"sort", "", waited, "7 (sleep)"}, limit),
            "timed out: sort has ended and left processes behind that hold its output, so CTest waits for them: 7 "
            "(sleep). Together they have run for 2.5 s, the limit (TIMEOUT), not counting 3 s in which it waited for a "
            "GPU. These processes end here. Let the test end what it starts, or give it an output of its own");
}

} // namespace
} // namespace gputest::policy
