// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using namespace literals;
using policy::Stage;
using testing::ContainsRegex;
using testing::HasSubstr;

class Annotations : public SuiteTest {};

TEST_F(Annotations, take_precedence_over_the_fixture_and_the_fixture_over_the_entry_in_every_kind_of_test) {
  struct Row {
    std::string test;
    std::string memory;
    std::string in_entry; ///< of 1 GiB
  };
  const std::vector<Row> rows{{"Medium.says_nothing", "medium", "1 GiB"}, // the entry's bytes are of its medium tests
                              {"Medium.with_bytes", "3 GiB", "3 GiB"},
                              {"Medium.with_a_class", "small", "small"},
                              {"Small.says_nothing", "small", "small"},
                              {"Large.with_bytes", "large with 1.5 GiB", "large with 1.5 GiB"},
                              {"NoFixture.says_nothing", "small", "1 GiB"},
                              {"NoFixture.with_bytes", "1 GiB", "1 GiB"},
                              {"NamedByMacros.with_bytes", "1 GiB", "1 GiB"},
                              {"NamedByMacros.of_the_suite", "2 GiB", "2 GiB"},
                              {"Some/Parameterised.with_bytes/0", "1 GiB", "1 GiB"},
                              {"Some/Parameterised.with_bytes/1", "1 GiB", "1 GiB"},
                              {"Typed/0.with_bytes", "2 GiB", "2 GiB"},
                              {"Some/TypeParameterised/0.with_bytes", "3 GiB", "3 GiB"}};
  const auto alone = reports_of("annotated", "-*.with_too_many_bytes");
  set("GPUTEST_MEMORY", "1GiB");
  const auto in_entry = reports_of("annotated", "-*.with_too_many_bytes");
  for (const auto& row : rows) {
    EXPECT_EQ(alone.at(row.test).memory, row.memory) << row.test;
    EXPECT_EQ(in_entry.at(row.test).memory, row.in_entry) << row.test;
  }
}

TEST_F(Annotations, that_name_no_test_fail_as_tests_of_their_own_and_fail_no_other) {
  const auto reports = reports_of("misnamed", "*");
  ASSERT_EQ(reports.size(), 6U);
  EXPECT_EQ(reports.at("Small.first").failures, "");
  EXPECT_EQ(reports.at("NoFixture.second").failures, "");
  EXPECT_THAT(reports.at("GputestNeeds.Small_frist").failures,
              HasSubstr("misnamed.cpp:15\nFailed\nGPUTEST_NEEDS(Small, frist, ...) names no test of this executable; "
                        "write the names as in TEST(). The nearest is GPUTEST_NEEDS(Small, first, ...)"));
  EXPECT_NE(reports.at("GputestNeeds.NoFixture_scond").failures, "");
  EXPECT_THAT(reports.at("GputestNeeds.Smal").failures, HasSubstr(". The nearest is GPUTEST_SUITE_NEEDS(Small, ...)"));
  const Ended ended = run("misnamed");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(count(ended.out, "@body"), 3U) << ended.out;
  EXPECT_EQ(run("misnamed", {"--gtest_filter=Small.first"}).exit_code, 0) << "a slip elsewhere is no failure of it";
}

TEST_F(Annotations, that_name_no_test_fail_the_program_where_they_cannot_be_tests) {
  const Ended ended = run("misnamed_by_hand", {"--gtest_filter=Other.*"});
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_EQ(count(ended.out, " of this executable; write the names as in TEST()"), 3U) << ended.out;
  EXPECT_EQ(count(ended.out, "[       OK ]"), 1U) << ended.out;
}

TEST_F(Annotations, of_more_than_any_device_has_skip_at_once_with_the_figures) {
  auto holder = start_holder(); // there is nothing to wait for, even if others hold the memory
  const Ended ended = run("annotated", {"--gtest_filter=Medium.with_too_many_bytes:Small.says_nothing"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out,
              HasSubstr("annotated: Medium.with_too_many_bytes needs 100 GiB of a device, its context included, "
                        "and the largest that it may use has 4 GiB: waiting would not help. Ask for less, or run "
                        "it where there is more"));
  EXPECT_THAT(ended.out, HasSubstr("[       OK ] Small.says_nothing"));
  EXPECT_THAT(ended.out, ContainsRegex("suites/annotated\\.cpp:[0-9]+: Skipped\n")) << "the test's own place";
}

} // namespace
} // namespace gputest::tests
