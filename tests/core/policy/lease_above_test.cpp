// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/lease_above.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputest::policy {
namespace {

TEST(LeaseAbove, is_the_nearest_ancestors_or_that_of_an_inherited_fifo) {
  constexpr std::size_t none = 99;
  const std::vector<Ancestor> ancestors{{30, 300, 7}, {20, 200, 7}, {10, 100, 0}};
  struct Case {
    const char* what;
    std::vector<LeaseHolder> holders;
    std::size_t expected;
  };
  const std::vector<Case> cases{
      {"nobody holds one", {}, none},
      {"the parent's", {{30, 300, 7}}, 0},
      {"one of some generations before", {{40, 400, 7}, {20, 200, 7}}, 1},
      {"another user's, such as of a program that sudo was started by", {{10, 100, 0}}, 0},
      {"the nearest of two", {{20, 200, 7}, {30, 300, 7}}, 1},
      {"of a later process with the same pid", {{30, 301, 7}}, none},
      {"of a process whose start is not known", {{30, 0, 7}}, none},
      {"of a user that has written another one's pid", {{30, 300, 8}}, none},
      {"a process beside", {{40, 400, 7}}, none},
      {"one that has left its FIFO to a process whose parent has ended", {{40, 400, 7}, {50, 500, 7, true}}, 1},
      {"an ancestor before a FIFO", {{50, 500, 7, true}, {20, 200, 7}}, 1},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(lease_above(ancestors, c.holders).value_or(none), c.expected) << c.what;
  }
  EXPECT_FALSE(lease_above({{30, 0, 7}}, {{30, 0, 7}}));
}

} // namespace
} // namespace gputest::policy
