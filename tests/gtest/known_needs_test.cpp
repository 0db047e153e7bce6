// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using namespace literals;
using policy::Claim;
using policy::Stage;
using testing::HasSubstr;

/// What is counted on before anything of the user's runs. Large tests wait, so that a test of an unknown class counts
/// as a whole device.
class KnownNeeds : public SuiteTest {
protected:
  KnownNeeds() { set("GPUTEST_LARGE", "wait"); }

  /// The claim of a process that runs these tests, in the first of them.
  [[nodiscard]] Claim claim_for(const std::string& filter) const {
    auto suite = start("known", {"--gtest_filter=" + filter});
    suite.wait_for_out("@body");
    return claim_of(suite);
  }
};

TEST_F(KnownNeeds, are_those_of_the_fixture_in_every_kind_of_suite) {
  for (const std::string suite : {"Plain", "PlainWithSetUp", "Small", "Derived", "Typed/0", "HidingSetUp",
                                  "HidingTearDown", "HidingBothAndSaid"}) {
    const auto claim = claim_for(suite + ".*");
    EXPECT_EQ(claim.largest_bytes, (256_MiB).count()) << suite;
    EXPECT_FALSE(claim.whole_devices) << suite;
  }
  EXPECT_EQ(claim_for("Medium.*").largest_bytes, (2_GiB).count());
  EXPECT_TRUE(claim_for("Large.*").whole_devices);
}

TEST_F(KnownNeeds, are_the_most_of_all_tests_that_will_run) {
  EXPECT_EQ(claim_for("Small.*:Plain.*:Medium.*").largest_bytes, (2_GiB).count());
  EXPECT_EQ(claim_for("SaidOfSuite.*").largest_bytes, (2_GiB).count());
  EXPECT_EQ(claim_for("SaidOfSuite.one").largest_bytes, (1_GiB).count());
}

TEST_F(KnownNeeds, are_open_where_a_fixture_hides_both_functions_or_leases_for_itself) {
  EXPECT_TRUE(claim_for("HidingBoth.*").whole_devices);
  EXPECT_TRUE(claim_for("Scoped.*").whole_devices);
  set("GPUTEST_LARGE", "exclude");
  const auto claim = claim_for("HidingBoth.*");
  EXPECT_FALSE(claim.whole_devices);
  EXPECT_EQ(claim.largest_bytes, (2_GiB).count());
}

TEST_F(KnownNeeds, of_gpus_are_of_the_test) {
  set("GPUTEST_DEVICES", "simulated:3x4GiB,context=0");
  auto suite = start("known", {"--gtest_filter=Pair.*"});
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).devices, 3U) << "the process has as many devices as its most demanding test";
  EXPECT_EQ(claim_of(suite).wanted, 1U);
  suite.say("go on");
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).wanted, 3U);
  EXPECT_EQ(suite.finish().exit_code, 0);
}

TEST_F(KnownNeeds, that_a_header_says_in_two_translation_units_are_said_once) {
  const auto reports = reports_of("known", "InHeader.*");
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports.at("InHeader.first").memory, "2 GiB") << reports.at("InHeader.first").failures;
  EXPECT_EQ(reports.at("InHeader.second").memory, "1 GiB") << reports.at("InHeader.second").failures;
}

TEST_F(KnownNeeds, that_one_source_says_twice_fail_the_test_with_both_places) {
  const auto reports = reports_of("known", "SaidTwice.*");
  EXPECT_THAT(reports.at("SaidTwice.test").failures,
              HasSubstr("known.cpp:81: GPUTEST_NEEDS(SaidTwice, test, ...) is already given at "));
  EXPECT_THAT(reports.at("SaidTwice.test").failures, HasSubstr("known.cpp:78; give it once"));
}

TEST_F(KnownNeeds, that_contradict_themselves_fail_the_test_where_they_are_said) {
  const auto reports = reports_of("known", "Contradictory.*");
  EXPECT_THAT(
      reports.at("Contradictory.test").failures,
      HasSubstr("known.cpp:74: GPUTEST_NEEDS(Contradictory, test, ...) says small and 3 GiB; small is up to 256 "
                "MiB: leave small out, or say medium or large"));
  EXPECT_EQ(count(run("known", {"--gtest_filter=Contradictory.*"}).out, "@body"), 0U);
}

} // namespace
} // namespace gputest::tests
