// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/utf8.hpp"

#include <gtest/gtest.h>

namespace {

using gputest::policy::length_of_character;

TEST(Utf8, accepts_what_unicode_has) {
  EXPECT_EQ(length_of_character("a"), 1U);
  EXPECT_EQ(length_of_character("\xC3\xBC rest"), 2U);
  EXPECT_EQ(length_of_character("\xE2\x82\xAC"), 3U);
  EXPECT_EQ(length_of_character("\xF4\x8F\xBF\xBF"), 4U) << "U+10FFFF";
}

TEST(Utf8, refuses_everything_else) {
  for (const char* const text : {"", "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                                 "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xC3(", "\xE2\x82", "\xE2\x82("}) {
    EXPECT_EQ(length_of_character(text), 0U) << testing::PrintToString(text);
  }
}

} // namespace
