// SPDX-License-Identifier: BSD-3-Clause
#include "tool/table.hpp"

#include <gtest/gtest.h>

namespace gputest::tool {

TEST(Table, counts_characters_and_not_bytes) {
  Table table{{{"N"}, {"M"}}};
  table.add_row({"\xC3\xA4\xC3\xB6", "1"}); // two letters of two bytes each
  table.add_row({"ab", "2"});
  EXPECT_EQ(table.to_string(), "N   M\n\xC3\xA4\xC3\xB6  1\nab  2\n");
}

TEST(Table, lets_no_control_character_reach_the_terminal) {
  Table table{{{"N"}}};
  table.add_row({"a\nb\x1B[31m c\x1F\x7F~"});
  EXPECT_EQ(table.to_string(), "N\na?b?[31m c??~\n");
}

} // namespace gputest::tool
