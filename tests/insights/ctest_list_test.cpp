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
  EXPECT_EQ(options_of_task({"-j8", "-R", "a", "--tests-regex=b", "-LE", "-j", "-E=x", "-C", "Debug", "-FA", "x"}),
            (Words{"-j8", "-C", "Debug", "-FA", "x"}));
  EXPECT_EQ(options_of_task({"-L", "a", "-j8", "--", "-L", "-V"}), (Words{"-j8", "--", "-L", "-V"}))
      << "arguments of the tests";
}

TEST(OptionsOfTask, refuse_what_would_hide_which_tests_have_ended) {
  for (const auto* const word : {"--output-on-failure", "-V", "-Q", "-I", "-I=1,2", "--output-junit=x",
                                 "--rerun-failed", "-N", "--progress", "-W"}) {
    EXPECT_THROW(static_cast<void>(options_of_task({"-j8", word})), tool::WrongCommandLine) << word;
  }
}

TEST(RepeatsOf, are_none_until_the_first_failure_or_others) {
  EXPECT_EQ(repeats_of({"-j8", "-R", "until-fail"}), Repeats::none);
  EXPECT_EQ(repeats_of({"-j8", "--", "--repeat", "until-fail:3"}), Repeats::none);
  EXPECT_EQ(repeats_of({"--repeat", "until-fail:3"}), Repeats::until_fail);
  EXPECT_EQ(repeats_of({"--repeat-until-fail", "3"}), Repeats::until_fail);
  EXPECT_EQ(repeats_of({"--repeat", "until-pass:3"}), Repeats::otherwise);
  EXPECT_EQ(repeats_of({"--repeat", "until-pass:3", "--repeat", "until-fail:3"}), Repeats::otherwise);
}

std::string list(const std::string& tests) { return R"({"tests":[)" + tests + "]}"; }

TEST(NumbersOfTests, tell_tests_of_one_name_apart_but_not_by_DEPENDS) {
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

TEST(NumbersOfTests, are_those_of_cases_of_workers_whether_ctest_lets_them_have_any) {
  const auto with_worker = list(R"({"name":"a","command":["gputest-entry","x"],"properties":[)"
                                R"({"name":"RESOURCE_LOCK","value":["gputest_workers_1_0"]}]})");
  const auto alone = list(R"({"name":"a","command":["gputest-entry","--own-process=an option","x"],"properties":[]})");
  EXPECT_EQ(numbers_of_tests(alone, with_worker), std::vector<std::size_t>{1});
}

TEST(WithFixturesOf, leaves_out_the_set_up_and_clean_up_of_which_ctest_would_add_tests) {
  const auto test = [](const std::string& name, const std::string& property, const std::string& fixture) {
    return R"({"name":")" + name + R"(","properties":[{"name":"FIXTURES_)" + property + R"(","value":[")" + fixture +
           R"("]}]})";
  };
  const auto all =
      list(test("up", "SETUP", "a+b") + "," + test("down", "CLEANUP", "a+b") + "," + test("other", "SETUP", "c") + "," +
           test("runs", "REQUIRED", "a+b") + "," + test("up2", "SETUP", "a+b"));
  EXPECT_EQ(with_fixtures_of({1, 2, 4, 5}, all, {"-j8"}), (Words{"-j8"}));
  EXPECT_EQ(with_fixtures_of({2, 4}, all, {"-FS", "x", "--", "y"}), (Words{"-FS", "x", "-FS", R"(^a\+b$)", "--", "y"}));
  EXPECT_EQ(with_fixtures_of({4}, all, {}), (Words{"-FS", R"(^a\+b$)", "-FC", R"(^a\+b$)"}));
  EXPECT_EQ(with_fixtures_of({3}, all, {}), Words{}) << "nothing requires it";
  EXPECT_EQ(
      tests::message_of<tool::WrongCommandLine>([&] {
        static_cast<void>(with_fixtures_of({1, 4}, all, {}));
      }),
      "ctest's options leave out the test up2 of the fixture a+b, and not up: a task can only leave out both. Write "
      "options that select both or none");
}

} // namespace
} // namespace gputest::insights
