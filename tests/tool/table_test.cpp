// SPDX-License-Identifier: BSD-3-Clause
#include "tool/table.hpp"

#include <gtest/gtest.h>

namespace gputest::tool {

TEST(Table, makes_columns_as_wide_as_their_widest_cell) {
  Table table{{{"NAME"}, {"MEMORY", Align::right}, {"USER"}}};
  table.add_row({"a", "12 GiB", "root"});
  table.add_row({"longer", "-", "x"});
  EXPECT_EQ(table.to_string(), "NAME    MEMORY  USER\n"
                               "a       12 GiB  root\n"
                               "longer       -  x\n");
}

TEST(Table, leaves_no_blanks_at_the_end_of_a_line_and_fills_missing_cells) {
  Table table{{{"A"}, {"B"}}};
  table.add_row({"long cell"});
  table.add_row({"x", "y", "of no column"});
  EXPECT_EQ(table.to_string(), "A          B\n"
                               "long cell\n"
                               "x          y\n");
}

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
