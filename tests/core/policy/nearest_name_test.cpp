// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/nearest_name.hpp"

#include <gtest/gtest.h>

namespace gputest::policy {
namespace {

TEST(EditDistance, counts_characters_and_exchanged_neighbours) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
  EXPECT_EQ(edit_distance("abc", "abcd"), 1U);
  EXPECT_EQ(edit_distance("abc", "bc"), 1U);
  EXPECT_EQ(edit_distance("abc", "axc"), 1U);
  EXPECT_EQ(edit_distance("memroy", "memory"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearestName, is_the_one_that_was_probably_meant) {
  const std::set<std::string> names{"GPUTEST_GPUS", "GPUTEST_MEMORY", "GPUTEST_REQUIRES", "GPUTEST_REQUIRE_GPU"};
  EXPECT_EQ(nearest_name("GPUTEST_MEMROY", names), "GPUTEST_MEMORY");
  EXPECT_EQ(nearest_name("GPUTEST_REQUIRE_GPUS", names), "GPUTEST_REQUIRE_GPU");
  EXPECT_EQ(nearest_name("GPUTEST_REQUIRE", names), "GPUTEST_REQUIRES");
  EXPECT_EQ(nearest_name("GPUTEST_GPU", names), "GPUTEST_GPUS");
  EXPECT_EQ(nearest_name("GPUTEST_GPU", {}), "");
}

} // namespace
} // namespace gputest::policy
