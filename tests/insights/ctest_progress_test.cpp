// SPDX-License-Identifier: BSD-3-Clause
#include "insights/ctest_progress.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace gputest::insights {
namespace {

/// `1 runs; 2 2 ; 3 0 Timeout; 4 2 ?; `: what runs, and how the others ended, with `?` if that is not sure.
std::string in_words(const CtestProgress& progress) {
  std::ostringstream text;
  for (const auto number : progress.begun) {
    text << number << " runs; ";
  }
  for (const auto& [number, result] : progress.ended) {
    text << number << " " << static_cast<int>(result.verdict) << " " << result.why << "; ";
  }
  for (const auto& [number, result] : progress.unsure) {
    text << number << " " << static_cast<int>(result.verdict) << " " << result.why << "?; ";
  }
  return text.str();
}

std::string read(const std::string& text, std::size_t sound = std::string::npos) {
  std::vector<SuiteTest> tests(13); // each at the position of its number
  tests[1].name = "a";
  tests[2].name = "b #3: c ... x";
  tests[12].name = "d";
  return in_words(parse_ctest_progress(text, tests, {{1, 1}, {2, 2}, {12, 12}}, sound));
}

} // namespace

TEST(CtestProgress, has_the_tests_that_run_and_the_results_of_those_that_ended) {
  EXPECT_EQ(read("Test project /build\n"
                 "      Start  1: a\n"
                 "      Start 12: d\n"
                 " 1/12 Test #12: d ..........................   Passed    1.03 sec\n"
                 "      Start  2: b #3: c ... x\n"
                 " 2/12 Test  #2: b #3: c ... x ..............***Failed    0.00 sec\n"),
            "1 runs; 2 0 Failed; 12 2 ; ");
}

TEST(CtestProgress, knows_each_way_to_end) {
  const auto ended = [](const std::string& status) { return read("1/3 Test #1: a ......" + status + "\n"); };
  EXPECT_EQ(ended("***Skipped   1.01 sec"), "1 3 Skipped; ");
  EXPECT_EQ(ended("***Not Run   0.00 sec"), "1 1 Not Run; ");
  EXPECT_EQ(ended("***Not Run (Disabled)   0.00 sec"), "1 4 Not Run (Disabled); ");
  EXPECT_EQ(ended("***Timeout   1.00 sec"), "1 0 Timeout; ");
  EXPECT_EQ(ended("***Exception: SegFault  0.00 sec"), "1 0 Exception: SegFault; ");
  EXPECT_EQ(ended("Subprocess aborted***Exception:   0.03 sec"), "1 0 Subprocess aborted; ");
  EXPECT_EQ(ended("Bus error***Exception:   0.03 sec"), "1 0 Bus error; ");
  EXPECT_EQ(ended("SIGUSR1***Exception:   0.03 sec"), "1 0 SIGUSR1; ");
  EXPECT_EQ(ended("***Failed  Error regular expression found in output. Regex=[x]  0.00 sec"),
            "1 0 Failed  Error regular expression found in output. Regex=[x]; ");
}

TEST(CtestProgress, is_not_sure_of_what_ctest_wrote_when_it_may_have_been_about_to_be_killed) {
  const std::string sound = "      Start  1: a\n 1/12 Test  #1: a ....***Failed    0.00 sec\n";
  const std::string unsure = "      Start 12: d\n 2/12 Test #12: d ....   Passed    1.03 sec\n";
  EXPECT_EQ(read(sound + unsure, sound.size()), "1 0 Failed; 12 2 ?; ");
  EXPECT_EQ(read(sound, sound.size() - 1), "1 0 Failed?; ");
  EXPECT_EQ(read(sound + "      Start  1: a\n", sound.size()), "1 runs; ");
}

TEST(CtestProgress, ignores_lines_that_are_cut_and_names_of_other_tests) {
  EXPECT_EQ(read("1/3 Test #1: a ......   Passed    1.03 sec"), "") << "it may have been cut";
  for (const auto* const line :
       {"1/3 Test #1: a ......   Pas", "1/3 Test #1: a ......   Passed", "1/3 Test #1: a ......   Passed    1.03",
        "1/3 Test #1: a ......", "1/3 Test #1: b ......   Passed    1.03 sec",
        "1/3 Test #7: a ......   Passed    1.03 sec", "1/3 Test #1: a ......   PasStart 2: x   Passed    1.03 sec",
        "1/3 Test #: a ......   Passed    1.03 sec", "", "      Start 1: ab",
        "      Start 1: ", "1/3 Test #1: a ......***   1.03 sec"}) {
    EXPECT_EQ(read(std::string{line} + "\n"), "") << line;
  }
}

} // namespace gputest::insights
