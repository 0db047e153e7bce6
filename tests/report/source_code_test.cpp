// SPDX-License-Identifier: BSD-3-Clause
#include "report/source_code.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gputest::report {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

TEST(SourceCode, of_cpp_has_no_comments_and_strings) {
  const Rows rows{
      {"a // b\nc", "a     \nc"},
      {"a /* b\n */ c", "a     \n    c"},
      {"a // b \\\nc\nd", "a       \n \nd"},
      {R"(f("x // \" y") + '"' + 1'000)", R"(f(...........) + ... + 1'000)"},
      {"R\"x(a \" )\" \n)x\" b", "R..........\n... b"},
      {"FOR\"a\" b", "FOR... b"},
      {"\"open\nb", ".....\nb"},
      {"'open\nb", ".....\nb"},
      {"/* open", "       "},
      {"/*/ b", "     "},
      {"a, /*/ b */ c", "a,          c"},
      {"/**/ b", "     b"},
      {"// a \\", "      "},
      {"// a \\\n\nb", "      \n\nb"},
      {"'a' b", "... b"},
      {"('a') b", "(...) b"},
      {"// a", "    "},
      {"'\"' b", "... b"},
      {"'\\'' \"x\"", ".... ..."},
      {"u8R\"(\"//)\" b", "u8R....... b"},
      {"LR\"(\"//)\" uR\"(\"//)\" UR\"(\"//)\" b", "LR....... uR....... UR....... b"},
      {"R\"(open\nb", "R......\n."},
      {"\"a\\\nb\" c", "...\n.. c"},
  };
  for (const auto& [text, code] : rows) {
    EXPECT_EQ(code_of_cpp(text), code) << text;
  }
}

TEST(SourceCode, of_cpp_knows_words_by_their_letters_digits_and_underscores) {
  for (const char c : std::string{"azAZ09_"}) {
    const std::string word(1, c);
    EXPECT_EQ(code_of_cpp(word + "R\"(\" b"), word + "R... b") << "no raw string";
    EXPECT_EQ(code_of_cpp(word + "'0' b"), word + "'0' b") << "no character";
  }
  for (const char c : std::string{"`{@[/:+"}) {
    const std::string other(1, c);
    EXPECT_EQ(code_of_cpp(other + "R\"(\" b)\""), other + "R.......") << "a raw string";
    EXPECT_EQ(code_of_cpp(other + "'\"' b"), other + "... b") << "a character";
  }
}

TEST(SourceCode, of_cpp_has_nothing_that_the_preprocessor_is_known_to_leave_out) {
  const Rows rows{
      {"#if 0\na\n#endif\nb", "#if 0\n \n#endif\nb"},
      {"#if 0 // no\na\n#else\nb\n#endif", "#if 0      \n \n#else\nb\n#endif"},
      {"# if 1\na\n#else\nb\n#endif", "# if 1\na\n#else\n \n#endif"},
      {"#if 1\na\n#elif X\nb\n#else\nc\n#endif", "#if 1\na\n#elif X\n \n#else\n \n#endif"},
      {"#if 0\n#ifdef X\na\n#else\nb\n#endif\nc\n#endif\nd", "#if 0\n#ifdef X\n \n#else\n \n#endif\n \n#endif\nd"},
      {"#if X\na\n#else\nb\n#endif", "#if X\na\n#else\nb\n#endif"},
      {"#endif\na", "#endif\na"},
      {"#else\n#elif 1\na", "#else\n#elif 1\na"},
      {"#if false\r\na\n#endif", "#if false\r\n \n#endif"},
      {"#\tif\ttrue\na\n#else\nb\n#endif", "#\tif\ttrue\na\n#else\n \n#endif"},
      {"  #if 0\na", "  #if 0\n "},
      {"x #if 0\na", "x #if 0\na"},
      {"xif 0\na", "xif 0\na"},
      {"#ifndef true\na\n#else\nb\n#endif", "#ifndef true\na\n#else\nb\n#endif"},
      {"#if 0\na\n#elif X\nb\n#else\nc\n#endif", "#if 0\n \n#elif X\nb\n#else\nc\n#endif"},
      {"#if X\na\n#elif 1\nb\n#else\nc\n#endif", "#if X\na\n#elif 1\nb\n#else\nc\n#endif"},
      {"#ifdef 0\na\n#endif", "#ifdef 0\na\n#endif"},
      {"#if 0\n#if 1\na\n#endif\nb\n#endif\nc", "#if 0\n#if 1\n \n#endif\n \n#endif\nc"},
      {"#if 1\n#if 0\na\n#endif\nb\n#else\nc\n#endif", "#if 1\n#if 0\n \n#endif\nb\n#else\n \n#endif"},
      {"#if 0\n#define GPUS\na\n#endif", "#if 0\n            \n \n#endif"},
  };
  for (const auto& [text, code] : rows) {
    EXPECT_EQ(code_of_cpp(text), code) << text;
  }
}

TEST(SourceCode, of_cmake_has_no_comments_and_strings) {
  const Rows rows{
      {"a # b\nc", "a    \nc"},
      {"a #[[ b\n c ]] d", "a      \n      d"},
      {"a #[==[ b ]] ]==] d", "a                 d"},
      {"f(\"x # \\\" y\" b) # c", "f(.......... b)    "},
      {"f([=[ # ]] ]=] b)", "f(............ b)"},
      {"f(\\\" b) # c", "f(\\\" b)    "},
      {"f(\"a\n# b\" c) # d", "f(..\n.... c)    "},
      {"f([[ \" ]] [==[ \" ]==] c)", "f(....... ........... c)"},
      {"f([=x[ # b", "f([=x[    "},
      {"a[ # b\nc", "a[    \nc"},
      {"#[x\nc", "   \nc"},
      {"#[[ open\nc", "        \n "},
      {"#", " "},
      {"a [", "a ["},
      {"a [=", "a [="},
      {"\\# b # c", "\\# b    "},
  };
  for (const auto& [text, code] : rows) {
    EXPECT_EQ(code_of_cmake(text), code) << text;
  }
}

} // namespace
} // namespace gputest::report
