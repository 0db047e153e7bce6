// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_words.hpp"

#include "tool/command_line.hpp"

#include <gtest/gtest.h>

namespace gputest::insights {

using Words = std::vector<std::string>;

TEST(OptionsOfTask, leave_out_what_selects_by_name_or_label) {
  EXPECT_EQ(options_of_task({"-j8", "-R", "a", "--tests-regex=b", "-LE", "-j", "-C", "Debug", "-FA", "x"}),
            (Words{"-j8", "-C", "Debug", "-FA", "x"}));
}

TEST(OptionsOfTask, refuse_what_would_hide_which_tests_have_ended) {
  for (const auto* const word :
       {"--output-on-failure", "-V", "-Q", "-I", "--output-junit=x", "--rerun-failed", "-N", "--progress", "-W"}) {
    EXPECT_THROW(static_cast<void>(options_of_task({"-j8", word})), tool::WrongCommandLine) << word;
  }
}

TEST(RepeatsOf, are_none_until_the_first_failure_or_others) {
  EXPECT_EQ(repeats_of({"-j8", "-R", "until-fail"}), Repeats::none);
  EXPECT_EQ(repeats_of({"--repeat", "until-fail:3"}), Repeats::until_fail);
  EXPECT_EQ(repeats_of({"--repeat-until-fail", "3"}), Repeats::until_fail);
  EXPECT_EQ(repeats_of({"--repeat", "until-pass:3"}), Repeats::otherwise);
  EXPECT_EQ(repeats_of({"--repeat", "until-pass:3", "--repeat", "until-fail:3"}), Repeats::otherwise);
}

TEST(NumbersOfTests, tell_tests_of_one_name_apart_but_not_by_DEPENDS) {
  const auto list = [](const std::string& tests) { return R"({"tests":[)" + tests + "]}"; };
  const std::string first = R"({"name":"a","command":["x"]})";
  const std::string second = R"({"name":"a","command":["y"],"properties":[{"name":"DEPENDS","value":["b"]}]})";
  const std::string alone = R"({"name":"a","command":["y"],"properties":[]})";
  const std::string last =
      R"({"name":"b","command":["sleep","1"],"properties":[{"name":"LABELS","value":["gpu"]}]})"; // two words are no
                                                                                                  // object
  const auto all = list(first + "," + second + "," + last);
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(numbers_of_tests(list(alone + "," + last), all), (Numbers{2, 3}));
  EXPECT_EQ(numbers_of_tests(all, all), (Numbers{1, 2, 3}));
  EXPECT_THROW(static_cast<void>(numbers_of_tests(list(R"({"name":"c"})"), all)), Error);
}

} // namespace gputest::insights
