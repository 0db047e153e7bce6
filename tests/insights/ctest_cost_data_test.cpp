// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_cost_data.hpp"

#include <gtest/gtest.h>

namespace gputest::insights {
namespace {

TEST(CtestCostData, has_the_times_of_what_ran_and_what_failed_in_the_last_run) {
  const auto data = parse_cost_data("a b 1 0.415505\nf 0 0\nslow 3 1e-05\na 0 1\n \nx\n y 1 nan\n---\nf\nb 1 2\n");
  EXPECT_EQ(data.seconds, (std::map<std::string, double>{{"a b", 0.415505}, {"slow", 1e-05}}));
  EXPECT_EQ(data.failed, (std::set<std::string>{"f", "b 1 2"}));
  EXPECT_TRUE(parse_cost_data("").failed.empty());
}

} // namespace
} // namespace gputest::insights
