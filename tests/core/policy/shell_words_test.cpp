// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/shell_words.hpp"

#include <gtest/gtest.h>

namespace gputest::policy {
namespace {

TEST(ShellWords, are_quoted_only_where_a_shell_would_read_them_as_something_else) {
  EXPECT_EQ(shell_words({}), "");
  EXPECT_EQ(shell_words({"/build/t", "--gtest_filter=A.b/0", "-j1"}), "/build/t --gtest_filter=A.b/0 -j1");
  EXPECT_EQ(shell_words({"a b", "", "$HOME", "*", "~", "a;b", "#", "^x$"}), "'a b' '' '$HOME' '*' '~' 'a;b' '#' '^x$'");
  EXPECT_EQ(shell_words({"it's"}), "'it'\\''s'");
  EXPECT_EQ(shell_words({"a\nb", "\\"}), "'a\nb' '\\'");
}

} // namespace
} // namespace gputest::policy
