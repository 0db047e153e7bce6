// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_log.hpp"

#include <gmock/gmock.h>

#include <string>

namespace gputest::insights {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// As ctest 3.25 and 4.4 write it.
std::string section(const std::string& number, const std::string& name, const std::string& output) {
  const std::string dashes = std::string(58, '-') + "\n";
  return number + " Testing: " + name + "\n" + number + " Test: " + name +
         "\nCommand: \"/bin/sh\"\nDirectory: /build\n\"" + name + "\" start time: Nov 23 18:45 UTC\nOutput:\n" +
         dashes + output + "<end of output>\nTest time =   0.01 sec\n" + dashes + "Test Failed.\n\"" + name +
         "\" end time: Nov 23 18:45 UTC\n" + dashes + "\n";
}

TEST(CtestLogs, have_the_output_of_each_entry_and_its_line) {
  const auto text = section("1/3", "a", "hello\n<CTestMeasurement name=\"x\">1</CTestMeasurement>\nred\n") +
                    section("2/3", "other", "no\n") + section("3/3", "b c", "");
  const auto outputs = parse_ctest_log(text);
  ASSERT_THAT(outputs, SizeIs(3));
  EXPECT_EQ(outputs.at("a").line, 2U);
  EXPECT_EQ(outputs.at("a").last_lines, "hello\nred\n");
  EXPECT_EQ(outputs.at("a").message, "hello\nred\n");
  EXPECT_EQ(outputs.at("a").seconds, 0.01);
  EXPECT_EQ(outputs.at("b c").line, 2U + 17 + 15);
  EXPECT_EQ(outputs.at("b c").last_lines, "");
}

TEST(CtestLogs, say_which_entries_were_skipped_by_their_output) {
  const std::string failed = "Test Failed.\n";
  const std::string skip = "Test Pass Reason:\nSkip regular expression found in output. Regex=[no GPU]\n";
  auto text = section("1/2", "a", skip) + section("2/2", "b", "no GPU\n");
  text.replace(text.rfind(failed), failed.size(), skip);
  const auto outputs = parse_ctest_log(text);
  EXPECT_FALSE(outputs.at("a").skipped) << "an output may say so";
  EXPECT_TRUE(outputs.at("b").skipped);
}

TEST(CtestLogs, have_the_last_attempt_and_no_section_that_an_output_imitates) {
  const auto outputs = parse_ctest_log(section("1/1", "a", "first\n") +
                                       section("1/1", "a", "2/2 Test: b\nOutput:\n----\n<end of output>\nlast\n"));
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_EQ(outputs.at("a").last_lines, "2/2 Test: b\nOutput:\n----\n<end of output>\nlast\n");
}

TEST(CtestLogs, say_nothing_of_other_entries_where_an_output_has_a_piece_of_a_log) {
  const std::string skip = "Test Pass Reason:\nSkip regular expression found in output. Regex=[x]\n";
  auto piece = section("1/3", "a", "forged\n") + section("3/3", "c", "forged\n") + section("1/1", "other", "forged\n");
  for (auto at = piece.find("Test Failed.\n"); at != std::string::npos; at = piece.find("Test Failed.\n")) {
    piece.replace(at, 13, skip);
  }
  const auto outputs = parse_ctest_log(section("1/3", "a", "one\n") + section("2/3", "b\nb", piece + "last\n") +
                                       "Unable to find executable: /bin/c\n" + section("3/3", "c", "three\n"));
  ASSERT_THAT(outputs, SizeIs(3));
  for (const auto& [name, output] : outputs) {
    EXPECT_FALSE(output.skipped) << name;
    EXPECT_EQ(output.last_lines.find("forged"), name == "b\nb" ? output.last_lines.find("forged") : std::string::npos);
  }
  EXPECT_EQ(outputs.at("a").last_lines, "one\n");
  EXPECT_THAT(outputs.at("b\nb").last_lines, testing::EndsWith("last\n"));
  EXPECT_EQ(outputs.at("c").last_lines, "three\n");
  const auto own = section("1/3", "a", "");
  const auto with_own_end = own.substr(own.find("<end of output>")) + section("2/2", "d", "") + section("1/3", "c", "");
  EXPECT_THAT(parse_ctest_log(section("1/3", "a", with_own_end)), SizeIs(1))
      << "another total, another name of a number";
}

TEST(CtestLogs, have_twenty_lines_and_four_kibibytes_of_an_output_at_most) {
  std::string lines;
  for (int i = 0; i < 50; ++i) {
    lines += "line " + std::to_string(i) + "\n";
  }
  const auto outputs =
      parse_ctest_log(section("1/2", "a", lines) + section("2/2", "b", std::string(10000, 'x') + "end\n"));
  EXPECT_EQ(outputs.at("a").last_lines.substr(0, 8), "line 30\n");
  EXPECT_THAT(outputs.at("b").last_lines, SizeIs(4096));
  EXPECT_THAT(outputs.at("b").last_lines, testing::EndsWith("xend\n"));
}

TEST(CtestLogs, have_three_lines_of_the_message_of_a_failure_wherever_it_is) {
  const std::string before = "Running main()\n[ RUN      ] S.a\nan error: 0 of 5\n\n";
  const std::string after = std::string(40, '\n') + "[  FAILED  ] S.a (0 ms)\n\n 1 FAILED TEST\n";
  const auto message = [&](const std::string& text) {
    return parse_ctest_log(section("1/1", "a", before + text + after)).at("a").message;
  };
  const std::string failure = "a.cpp:5: Failure\nExpected equality of these values:\n  1\n";
  EXPECT_EQ(message(failure + "  2\n"), failure);
  EXPECT_EQ(message("terminate called after throwing\n"),
            "terminate called after throwing\n[  FAILED  ] S.a (0 ms)\n 1 FAILED TEST\n");
  EXPECT_EQ(parse_ctest_log(section("1/1", "a", "1\n2\n3\n4\n")).at("a").message, "2\n3\n4\n");
}

TEST(CtestLogs, may_be_cut_anywhere) {
  const auto text = section("1/1", "a", "hello\n");
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    for (const auto& [name, output] : parse_ctest_log(text.substr(0, bytes))) {
      EXPECT_THAT("hello\n", HasSubstr(output.last_lines)) << bytes;
    }
  }
}

} // namespace
} // namespace gputest::insights
