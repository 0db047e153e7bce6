// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

#include <functional>

namespace gputest::tests {
namespace {

using namespace literals;
using policy::Claim;
using policy::Stage;
using testing::HasSubstr;

constexpr std::uint64_t bytes(Bytes size) { return size.count(); }

class Fixtures : public SuiteTest {
protected:
  /// Walks through a test that stops wherever its fixture runs user code; `expect` says what it must hold there.
  static void walk(ChildProcess& suite, const std::function<void(const std::string& where)>& expect) {
    for (const std::string where : {"constructor", "SetUp", "body", "TearDown", "destructor"}) {
      suite.wait_for_out("@" + where);
      expect(where);
      suite.say("go on");
    }
  }
};

TEST_F(Fixtures, hold_their_class_wherever_the_test_can_run_code) {
  auto suite = start("classes", {"--gtest_filter=Small.*:Medium.*:Large.*"});
  for (int test = 0; test < 2; ++test) {
    walk(suite, [&](const std::string& where) {
      const Claim claim = claim_of(suite);
      EXPECT_EQ(claim.stage, Stage::holding) << where;
      EXPECT_EQ(claim.lease_bytes, bytes(256_MiB)) << where;
      EXPECT_FALSE(claim.medium_lock || claim.exclusive) << where;
    });
  }
  for (int test = 0; test < 2; ++test) {
    walk(suite, [&](const std::string& where) {
      const Claim claim = claim_of(suite);
      EXPECT_EQ(claim.stage, Stage::holding) << where;
      EXPECT_EQ(claim.lease_bytes, bytes(2_GiB)) << where;
      EXPECT_TRUE(claim.medium_lock) << where;
    });
  }
  suite.wait_for_out("@TearDownTestSuite");
  EXPECT_EQ(claim_of(suite).stage, Stage::inside);
  suite.say("go on");
  for (int test = 0; test < 2; ++test) {
    walk(suite, [&](const std::string& where) {
      const Claim claim = claim_of(suite);
      EXPECT_EQ(claim.stage, Stage::holding) << where;
      EXPECT_TRUE(claim.exclusive) << where;
    });
  }
  const Ended ended = suite.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_TRUE(entries().empty());
}

TEST_F(Fixtures, of_scoped_tests_hold_nothing) {
  auto suite = start("classes", {"--gtest_filter=Scoped.*"});
  for (int test = 0; test < 2; ++test) {
    walk(suite, [&](const std::string& where) { EXPECT_EQ(claim_of(suite).stage, Stage::inside) << where; });
  }
  EXPECT_EQ(suite.finish().exit_code, 0);
}

TEST_F(Fixtures, with_a_suite_set_up_of_their_own_hold_their_class_all_the_same) {
  auto medium = start("pinned", {"--gtest_filter=HidingMedium.*"});
  medium.wait_for_out("@body");
  EXPECT_TRUE(claim_of(medium).medium_lock);
  auto scoped = start("pinned", {"--gtest_filter=HidingScoped.*"});
  for (int test = 0; test < 2; ++test) {
    scoped.wait_for_out("@body");
    EXPECT_EQ(claim_of(scoped).stage, Stage::inside);
    scoped.say("go on");
  }
  EXPECT_EQ(scoped.finish().exit_code, 0);
}

TEST_F(Fixtures, that_hide_both_functions_are_known_from_their_second_test_on) {
  set("GPUTEST_MEMORY", "3GiB"); // which the first test leases before its fixture shows that it wants none
  set("GPUTEST_WAIT_LIMIT", "1s");
  auto scoped = start("pinned", {"--gtest_filter=HidingBothScoped.*"});
  scoped.wait_for_out("@body");
  EXPECT_EQ(claim_of(scoped).stage, Stage::inside);
  const auto holder = start_holder();
  scoped.say("go on");
  scoped.wait_for_out("@body");
  const Ended ended = scoped.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_EQ(count(ended.err, "waits for"), 0U) << ended.err;
}

TEST_F(Fixtures, say_in_the_report_what_they_held_and_where) {
  const auto reports = reports_of("classes", "*");
  ASSERT_EQ(reports.size(), 9U);
  for (const std::string number : {"first", "second"}) {
    EXPECT_EQ(reports.at("Small." + number).memory, "small");
    EXPECT_EQ(reports.at("Medium." + number).memory, "medium");
    EXPECT_EQ(reports.at("Large." + number).memory, "large");
    EXPECT_EQ(reports.at("Medium." + number).devices, "SIM-1x4096MiB-0");
    EXPECT_EQ(reports.at("Scoped." + number).memory, "") << "it leased nothing";
  }
  EXPECT_EQ(reports.at("NoFixture.first").memory, "small");
}

// CTest starts a test's time limit at this line, so that waiting is free.
TEST_F(Fixtures, are_admitted_with_their_own_class_and_not_before) {
  auto holder = start("classes", {"--gtest_filter=Medium.first"});
  holder.wait_for_out("@constructor");
  auto waiter = start("classes", {"--gtest_filter=Medium.first"});
  waiter.wait_for_err("waits for");
  holder.finish();
  const Ended ended = waiter.finish();
  EXPECT_EQ(count(ended.err, "gputest: admitted"), 1U) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("gputest: admitted classes: Medium.first: medium on SIM-1x4096MiB-0"));
  EXPECT_LT(ended.err.find("waits for"), ended.err.find("admitted")) << ended.err;
}

} // namespace
} // namespace gputest::tests
