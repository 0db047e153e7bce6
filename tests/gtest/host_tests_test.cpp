// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using policy::Stage;
using testing::HasSubstr;
using testing::Not;

constexpr const char* all_that_run = "Host.*:NoFixture.runs:Said.runs:HostWithSetUp.*:HidingBothAndSaid.*";

/// Tests that use no GPU, by their fixture or by an annotation.
class HostTests : public SuiteTest {};

TEST_F(HostTests, run_without_a_gpu) {
  set("GPUTEST_DEVICES", "none");
  set("GPUTEST_FORBID_SKIP", "1");
  auto suite = start("host", {std::string{"--gtest_filter="} + all_that_run});
  for (int test = 0; test < 5; ++test) {
    suite.wait_for_out("@body");
    suite.say("go on");
  }
  const Ended ended = suite.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_EQ(count(ended.out, "[       OK ]"), 6U) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("@SetUpTestSuite"));
}

TEST_F(HostTests, run_beside_tests_that_are_skipped) {
  set("GPUTEST_DEVICES", "none");
  auto suite = start("host", {"--gtest_filter=Said.*:Mixed.*"});
  suite.wait_for_out("@body");
  suite.say("go on");
  suite.wait_for_out("@SetUpTestSuite");
  suite.wait_for_out("@body");
  const Ended ended = suite.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("[       OK ] Said.runs"));
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Said.uses_a_gpu"));
  EXPECT_THAT(ended.out, HasSubstr("[       OK ] Mixed.runs"));
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Mixed.uses_a_gpu"));
}

TEST_F(HostTests, that_run_alone_are_not_on_the_ledger_and_wait_for_nobody) {
  auto holder = start("classes", {"--gtest_filter=Large.first"});
  holder.wait_for_out("@constructor");
  set("GPUTEST_WAIT_LIMIT", "0s");
  auto suite = start("host", {"--gtest_filter=Host.runs"});
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).stage, Stage::outside);
  EXPECT_EQ(suite.finish().exit_code, 0);
}

TEST_F(HostTests, that_need_something_of_a_gpu_contradict_themselves) {
  const auto reports = reports_of("host", "HostWithSize*:HidingBoth.*:Shared.uses_no_gpu");
  EXPECT_THAT(reports.at("HostWithSize.needs_memory").failures,
              HasSubstr("GPUTEST_NEEDS(HostWithSize, needs_memory, ...) says what it needs of a GPU, and its fixture "
                        "is a HostTest, which uses none"));
  EXPECT_THAT(reports.at("HostWithSizeOfSuite.needs_memory").failures,
              HasSubstr("GPUTEST_SUITE_NEEDS(HostWithSizeOfSuite, ...) says what it needs of a GPU, and its fixture is "
                        "a HostTest, which uses none"));
  EXPECT_THAT(reports.at("HidingBoth.is_not_known").failures, HasSubstr("Write GPUTEST_SUITE_NEEDS(<suite>, no_gpu)"));
  EXPECT_THAT(reports.at("Shared.uses_no_gpu").failures,
              HasSubstr("GPUTEST_NEEDS(Shared, uses_no_gpu, ...) says no_gpu, and its suite has one lease for all its "
                        "tests"));
}

TEST_F(HostTests, are_those_that_declare_nothing_if_their_entry_says_so) {
  set("GPUTEST_MEMORY", "none");
  auto suite = start("host", {"--gtest_filter=NoFixture.uses_a_gpu"});
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).stage, Stage::outside);
  EXPECT_EQ(suite.finish().exit_code, 0);
  set("GPUTEST_DEVICES", "none");
  auto beside = start("host", {"--gtest_filter=Plain.uses_a_gpu:Said.uses_a_gpu:Large.*"});
  beside.wait_for_out("@body");
  beside.say("go on");
  const Ended ended = beside.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("[       OK ] Plain.uses_a_gpu"));
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Said.uses_a_gpu"));
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Large.uses_a_gpu"));
  EXPECT_THAT(reports_of("host", "Scoped.*").at("Scoped.uses_a_gpu").failures,
              HasSubstr("has taken the entry's word that it uses none (MEMORY none)"))
      << "a fixture that cannot be seen before it is made";
}

/// What a suite allocates in SetUpTestSuite() would be allocated for nothing.
class SetUpOfASuite : public SuiteTest {
protected:
  void expect_not_run(const std::string& filter) const {
    const Ended ended = run("host", {"--gtest_filter=" + filter});
    EXPECT_EQ(ended.exit_code, 77) << ended.out;
    EXPECT_THAT(ended.out, Not(HasSubstr("TestSuite\n")));
  }
};

TEST_F(SetUpOfASuite, does_not_run_where_all_tests_are_skipped) {
  expect_not_run("Plain.needs_too_much");
  set("GPUTEST_RUN_MODE", "parallel");
  expect_not_run("Large.*");
  set("GPUTEST_DEVICES", "none");
  expect_not_run("Plain.*:Scoped.*:Large.*");
}

/// Whoever has run it, and where.
TEST_F(SetUpOfASuite, that_uses_a_gpu_fails_each_test_that_says_it_uses_none) {
  set("GPUTEST_TEST", "entry");
  for (const std::string filter : {"MixedUp.uses_none", "MixedUp.uses_none*", "MixedUp.*"}) {
    const auto reports = reports_of("host", filter);
    for (const auto& [name, report] : reports) {
      if (name == "MixedUp.uses_a_gpu") {
        EXPECT_EQ(report.failures, "") << filter;
      } else {
        EXPECT_THAT(report.failures, HasSubstr("MixedUp::SetUpTestSuite()")) << filter << name;
      }
    }
  }
}

TEST_F(SetUpOfASuite, runs_where_one_test_runs) {
  auto suite = start("host", {"--gtest_filter=Plain.*:Scoped.*:Large.*"});
  for (int test = 0; test < 3; ++test) {
    suite.wait_for_out("@SetUpTestSuite");
    suite.wait_for_out("@body");
    suite.say("go on");
    suite.wait_for_out("@TearDownTestSuite");
  }
  EXPECT_EQ(suite.finish().exit_code, 0);
}

} // namespace
} // namespace gputest::tests
