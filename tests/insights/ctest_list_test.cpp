// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_list.hpp"

#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include "tool/command_line.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace gputest::insights {
namespace {

TEST(CtestList, leaves_nothing_in_the_folder_for_temporary_files) {
  const tests::PrivateFolder parent;
  const tests::PrivateFolder suite;
  EXPECT_EQ(tests::in_child([&] {
              ::setenv("TMPDIR", parent.path().c_str(), 1);
              const bool listed = list_ctest(suite.path(), {}).find("\"tests\"") != std::string::npos;
              return listed && std::filesystem::is_empty(parent.path()) ? 0 : 1;
            }),
            0);
}

TEST(CtestList, is_an_error_that_says_what_to_do_where_no_folder_can_be_made) {
  EXPECT_EQ(tests::in_child([] {
              ::setenv("TMPDIR", "/no/such/folder", 1);
              const auto message = tests::message_of<Error>([] { static_cast<void>(list_ctest("/", {})); });
              return message.find("/no/such/folder/") != std::string::npos &&
                             message.find("Set TMPDIR to a folder in which you may write") != std::string::npos
                         ? 0
                         : 1;
            }),
            0);
}

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

} // namespace
} // namespace gputest::insights
