// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using namespace literals;
using policy::Stage;
using testing::HasSubstr;
using testing::Not;

class SuiteLeases : public SuiteTest {
protected:
  /// Expects the suite `Shared` to hold its lease wherever it runs code of the user's.
  void walk(ChildProcess& suite, int tests) const {
    std::vector<std::string> places{"SetUpTestSuite"};
    places.insert(places.end(), static_cast<std::size_t>(tests), "body");
    places.emplace_back("TearDownTestSuite");
    for (const auto& place : places) {
      suite.wait_for_out("@" + place);
      EXPECT_EQ(claim_of(suite).stage, Stage::holding) << place;
      EXPECT_EQ(claim_of(suite).lease_bytes, (3_GiB).count()) << place;
      suite.say("go on");
    }
  }
};

TEST_F(SuiteLeases, are_held_from_before_SetUpTestSuite_until_after_TearDownTestSuite) {
  auto suite = start("suite_leases", {"--gtest_filter=Shared.first:Shared.second:After.*"});
  walk(suite, 2);
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).lease_bytes, (256_MiB).count()) << "the next suite has its own again";
  const Ended ended = suite.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_EQ(count(ended.err, "gputest: admitted"), 1U) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("gputest: admitted suite_leases: Shared: 3 GiB on SIM-1x4096MiB-0"));
}

TEST_F(SuiteLeases, of_as_much_as_a_small_test_may_take_are_enough_for_one) {
  const auto reports = reports_of("suite_leases", "AsSmall.*:LessThanSmall.*");
  EXPECT_EQ(reports.at("AsSmall.asks_for_small").failures, "");
  EXPECT_EQ(reports.at("AsSmall.asks_for_all_of_it").failures, "");
  for (const std::string test : {"AsSmall.asks_for_medium", "AsSmall.asks_for_two_devices"}) {
    EXPECT_THAT(reports.at(test).failures, HasSubstr("and its suite holds one lease of 256 MiB for all its tests"));
  }
  EXPECT_THAT(reports.at("LessThanSmall.asks_for_small").failures, HasSubstr("its suite holds one lease of 255 MiB"));
}

TEST_F(SuiteLeases, wait_before_SetUpTestSuite) {
  auto holder = start_holder();
  auto suite = start("suite_leases", {"--gtest_filter=Shared.first"});
  wait_for(suite, Stage::waiting);
  EXPECT_EQ(holder.finish().exit_code, 0);
  walk(suite, 1);
  EXPECT_THAT(suite.finish().out, HasSubstr("[       OK ] Shared.first"));
}

TEST_F(SuiteLeases, that_cannot_be_had_skip_their_tests_and_run_no_code_of_the_suite) {
  const Ended ended = run("suite_leases", {"--gtest_filter=TooMuch.*", "--gtest_repeat=2"});
  EXPECT_EQ(ended.exit_code, 77) << ended.out;
  EXPECT_EQ(count(ended.out, "suite_leases: TooMuch needs 100 GiB of a device"), 4U) << ended.out;
  EXPECT_THAT(ended.out, Not(HasSubstr("@never")));
}

TEST_F(SuiteLeases, are_the_most_that_their_tests_may_ask_for) {
  const auto reports = reports_of("suite_leases", "Shared.asks_for_*:Shared.needs_a_slice:Shared.leases_on_top");
  EXPECT_EQ(reports.at("Shared.asks_for_less").failures, "");
  EXPECT_EQ(reports.at("Shared.asks_for_less").memory, "3 GiB");
  EXPECT_EQ(reports.at("Shared.asks_for_less").devices, "SIM-1x4096MiB-0");
  EXPECT_THAT(
      reports.at("Shared.asks_for_more").failures,
      HasSubstr("Shared.asks_for_more asks for 4 GiB, and its suite holds one lease of 3 GiB for all its tests. "
                "Give the suite as much in GPUTEST_SUITE_NEEDS, or leave it out of GPUTEST_NEEDS"));
  EXPECT_THAT(
      reports.at("Shared.asks_for_a_heap").failures,
      HasSubstr("Shared.asks_for_a_heap asks for 3 GiB and a heap of 64 MiB, and its suite holds one lease of 3 "
                "GiB for all its tests"));
  EXPECT_TRUE(reports.at("Shared.needs_a_slice").skipped);
  EXPECT_EQ(reports.at("Shared.leases_on_top").failures, "");
}

} // namespace
} // namespace gputest::tests
