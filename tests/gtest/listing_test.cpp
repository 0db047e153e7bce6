// SPDX-License-Identifier: BSD-3-Clause
#include "gtest/listing.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputest::tests {
namespace {

TEST(NamePattern, matches_as_that_of_a_filter_of_googletest_does) {
  struct Row {
    std::string pattern;
    std::string name;
    bool matches;
  };
  std::string stars;
  for (int i = 0; i < 100; ++i) {
    stars += "*a";
  }
  for (const auto& row : {
           Row{"S.t", "S.t", true},
           {"S.t", "S.t2", false},
           {"S.t2", "S.t", false},
           {"S.?", "S.t", true},
           {"S.?", "S.", false},
           {"?.t", "SS.t", false},
           {"*", "S.t", true},
           {"**", "S.t", true},
           {"S.*", "S.", true},
           {"*.t", "S.t.t", true},
           {"*.t", "S.t.", false},
           {"*t?t*", "S.t_tt", true},
           {"*t?u*", "S.tttu", true},
           {"*ab*ab", "S.abab", true},
           {"*ab*ab", "S.aab", false},
           {"", "", true},
           {"*", "", true},
           {"?", "", false},
           {"", "S.t", false},
           {stars, std::string(100, 'a'), true},
           {stars, std::string(99, 'a'), false},
           {stars + "b", std::string(2000, 'a'), false},
           {stars + "b", std::string(2000, 'a') + "b", true},
       }) {
    EXPECT_EQ(detail::matches(row.pattern, row.name), row.matches) << row.pattern << " " << row.name;
  }
}

} // namespace
} // namespace gputest::tests
