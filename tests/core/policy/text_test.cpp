// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gputest::policy {
namespace {

TEST(NearestName, is_the_one_that_was_probably_meant) {
  const std::set<std::string> names{"GPUTEST_GPUS", "GPUTEST_MEMORY", "GPUTEST_REQUIRES", "GPUTEST_REQUIRE_GPU"};
  EXPECT_EQ(nearest_name("GPUTEST_MEMROY", names), "GPUTEST_MEMORY");
  EXPECT_EQ(nearest_name("GPUTEST_REQUIRE_GPUS", names), "GPUTEST_REQUIRE_GPU");
  EXPECT_EQ(nearest_name("GPUTEST_REQUIRE", names), "GPUTEST_REQUIRES");
  EXPECT_EQ(nearest_name("GPUTEST_GPU", names), "GPUTEST_GPUS");
  EXPECT_EQ(nearest_name("GPUTEST_GPU", {}), "");
}

TEST(ShellWords, are_quoted_only_where_a_shell_would_read_them_as_something_else) {
  EXPECT_EQ(shell_words({}), "");
  EXPECT_EQ(shell_words({"/build/t", "--gtest_filter=A.b/0", "-j1"}), "/build/t --gtest_filter=A.b/0 -j1");
  EXPECT_EQ(shell_words({"a b", "", "$HOME", "*", "~", "a;b", "#", "^x$"}), "'a b' '' '$HOME' '*' '~' 'a;b' '#' '^x$'");
  EXPECT_EQ(shell_words({"it's"}), "'it'\\''s'");
  EXPECT_EQ(shell_words({"a\nb", "\\"}), "'a\nb' '\\'");
}

TEST(Utf8, accepts_what_unicode_has) {
  EXPECT_EQ(length_of_character("a"), 1U);
  EXPECT_EQ(length_of_character("\xC3\xBC rest"), 2U);
  EXPECT_EQ(length_of_character("\xE2\x82\xAC"), 3U);
  EXPECT_EQ(length_of_character("\xF4\x8F\xBF\xBF"), 4U) << "U+10FFFF";
}

TEST(Printable, has_nothing_that_a_terminal_acts_on) {
  EXPECT_EQ(printable("Größe/0 €😀"), "Größe/0 €😀");
  EXPECT_EQ(printable("a\nb\x1B[2J\x7F"), "a?b?[2J?");
  EXPECT_EQ(printable("a\xFF\xC3"), "a??") << "no UTF-8";
  EXPECT_EQ(printable("a\u0080\u009F\u00A0"), "a??\u00A0") << "control characters in two bytes";
  EXPECT_EQ(printable("\u061C\u200D\u200E\u200F\u2010"), "?\u200D??\u2010");
  EXPECT_EQ(printable("\u2028\u202E\u202F\u2065\u2066\u2069\u206A"), "??\u202F\u2065??\u206A");
}

TEST(Fixed, is_the_number_with_a_point) {
  EXPECT_EQ(fixed(1234.5, 2), "1234.50");
  EXPECT_EQ(fixed(0.125, 2), "0.12");
  EXPECT_EQ(fixed(-1.0 / 3, 3), "-0.333");
  EXPECT_EQ(fixed(std::numeric_limits<double>::max(), 3).size(), 313U);
}

TEST(InWholeLines, ends_the_last_line_if_it_is_unfinished) {
  EXPECT_EQ(in_whole_lines("a\nb"), "a\nb\n");
  EXPECT_EQ(in_whole_lines("a\n"), "a\n");
  EXPECT_EQ(in_whole_lines(""), "");
}

TEST(Parts, may_be_empty_but_for_the_last) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(parts_of("a::b", ':'), (Parts{"a", "", "b"}));
  EXPECT_EQ(parts_of(":a:", ':'), (Parts{"", "a"}));
  EXPECT_EQ(parts_of("", ':'), Parts{});
}

TEST(Counted, has_the_plural_but_for_one) {
  EXPECT_EQ(counted(0, "case"), "0 cases");
  EXPECT_EQ(counted(1, "case"), "1 case");
  EXPECT_EQ(counted(2, "case"), "2 cases");
}

TEST(Utf8, refuses_everything_else) {
  for (const char* const text : {"", "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                                 "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xC3(", "\xE2\x82", "\xE2\x82("}) {
    EXPECT_EQ(length_of_character(text), 0U) << testing::PrintToString(text);
  }
}

} // namespace
} // namespace gputest::policy
