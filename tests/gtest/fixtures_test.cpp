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
  for (const std::string fixture : {"Small", "Small", "Medium", "Medium", "Large", "Large"}) {
    walk(suite, [&](const std::string& where) {
      const Claim claim = claim_of(suite);
      EXPECT_EQ(claim.stage, Stage::holding) << fixture << where;
      EXPECT_EQ(claim.exclusive, fixture == "Large") << fixture << where;
      EXPECT_EQ(claim.medium_lock, fixture == "Medium") << fixture << where;
      if (!claim.exclusive) {
        EXPECT_EQ(Bytes{claim.lease_bytes}, fixture == "Small" ? 256_MiB : 2_GiB) << fixture << where;
      }
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

} // namespace
} // namespace gputest::tests
