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

TEST_F(Annotations, give_bytes_or_a_class_to_every_kind_of_test) {
  const auto reports = reports_of("annotated", "-*.with_too_many_bytes");
  ASSERT_EQ(reports.size(), 15U);
  EXPECT_EQ(reports.at("Medium.says_nothing").memory, "medium");
  EXPECT_EQ(reports.at("Medium.with_bytes").memory, "3 GiB");
  EXPECT_EQ(reports.at("Medium.with_a_class").memory, "small");
  EXPECT_EQ(reports.at("Small.says_nothing").memory, "small");
  EXPECT_EQ(reports.at("Large.with_bytes").memory, "large with 1.5 GiB");
  EXPECT_EQ(reports.at("NoFixture.says_nothing").memory, "small");
  EXPECT_EQ(reports.at("NoFixture.with_bytes").memory, "1 GiB");
  EXPECT_EQ(reports.at("Some/Parameterised.with_bytes/0").memory, "1 GiB");
  EXPECT_EQ(reports.at("Some/Parameterised.with_bytes/1").memory, "1 GiB");
  EXPECT_EQ(reports.at("Typed/0.with_bytes").memory, "2 GiB");
  EXPECT_EQ(reports.at("Some/TypeParameterised/0.with_bytes").memory, "3 GiB");
}

TEST_F(Annotations, are_of_the_test_and_not_of_instances_with_its_names) {
  const auto reports = reports_of("annotated", "*Parameterised.says_nothing/*");
  ASSERT_EQ(reports.size(), 3U);
  for (const auto& [name, report] : reports) {
    EXPECT_EQ(report.memory, "small") << name;
  }
}

TEST_F(Annotations, take_precedence_over_the_fixture_and_the_fixture_over_the_entry) {
  set("GPUTEST_MEMORY", "1GiB");
  const auto reports = reports_of("annotated", "-*.with_too_many_bytes");
  EXPECT_EQ(reports.at("Medium.with_bytes").memory, "3 GiB");
  EXPECT_EQ(reports.at("Medium.with_a_class").memory, "small");
  EXPECT_EQ(reports.at("Medium.says_nothing").memory, "1 GiB") << "the entry's bytes are those of its medium tests";
  EXPECT_EQ(reports.at("Small.says_nothing").memory, "small");
  EXPECT_EQ(reports.at("NoFixture.says_nothing").memory, "1 GiB");
  EXPECT_EQ(reports.at("NoFixture.with_bytes").memory, "1 GiB");
  EXPECT_EQ(reports.at("Large.with_bytes").memory, "large with 1.5 GiB");
}

TEST_F(Annotations, with_bytes_need_no_medium_lock) {
  auto first = start("annotated", {"--gtest_filter=Large.with_bytes"});
  first.wait_for_out("@body");
  auto second = start("annotated", {"--gtest_filter=Medium.says_nothing"});
  second.wait_for_out("@body");
  EXPECT_EQ(claim_of(first).lease_bytes, (1_GiB + 512_MiB).count());
  EXPECT_FALSE(claim_of(first).medium_lock || claim_of(first).exclusive);
  EXPECT_EQ(claim_of(second).lease_bytes, (2_GiB).count());
}

TEST_F(Annotations, that_name_no_test_fail_as_tests_of_their_own_and_fail_no_other) {
  const auto reports = reports_of("misnamed", "*");
  ASSERT_EQ(reports.size(), 6U);
  EXPECT_EQ(reports.at("Small.first").failures, "");
  EXPECT_EQ(reports.at("NoFixture.second").failures, "");
  EXPECT_THAT(reports.at("GputestNeeds.Small_frist").failures,
              HasSubstr("misnamed.cpp:15\nFailed\nGPUTEST_NEEDS(Small, frist, ...) names no test of this executable; "
                        "write the names as in TEST(). The nearest is GPUTEST_NEEDS(Small, first, ...)"));
  EXPECT_THAT(reports.at("GputestNeeds.NoFixture_scond").failures,
              HasSubstr("GPUTEST_NEEDS(NoFixture, scond, ...) names no test of this executable; write the names as in "
                        "TEST(). The nearest is GPUTEST_NEEDS(NoFixture, second, ...)"));
  EXPECT_THAT(reports.at("GputestNeeds.Smal").failures,
              HasSubstr("GPUTEST_SUITE_NEEDS(Smal, ...) names no suite of this executable; write the names as in "
                        "TEST(). The nearest is GPUTEST_SUITE_NEEDS(Small, ...)"));
  const Ended ended = run("misnamed");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(count(ended.out, "@body"), 3U) << ended.out;
  EXPECT_EQ(run("misnamed", {"--gtest_filter=Small.first"}).exit_code, 0) << "a slip elsewhere is no failure of it";
}

TEST_F(Annotations, that_name_no_test_fail_only_what_they_concern_where_they_cannot_be_tests) {
  const Ended other = run("misnamed_by_hand", {"--gtest_filter=Other.*"});
  EXPECT_EQ(other.exit_code, 0) << other.out;
  const Ended small = run("misnamed_by_hand", {"--gtest_filter=Small.*"});
  EXPECT_EQ(small.exit_code, 1) << small.out;
  EXPECT_EQ(count(small.out, " of this executable; write the names as in TEST()"), 1U) << small.out;
  const Ended all = run("misnamed_by_hand");
  EXPECT_EQ(all.exit_code, 1) << all.out;
  EXPECT_EQ(count(all.out, " of this executable; write the names as in TEST()"), 3U) << all.out;
  EXPECT_EQ(count(all.out, "[       OK ]"), 3U) << all.out;
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

TEST_F(Annotations, that_cannot_be_served_fail_at_the_test_s_own_place) {
  set("GPUTEST_FORBID_SKIP", "1");
  const auto reports = reports_of("annotated", "Medium.with_too_many_bytes");
  EXPECT_THAT(reports.at("Medium.with_too_many_bytes").failures,
              ContainsRegex("suites/annotated\\.cpp:[0-9]+\nFailed\nannotated: Medium.with_too_many_bytes needs"));
}

} // namespace
} // namespace gputest::tests
