// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

class Closing : public SuiteTest, public testing::WithParamInterface<std::string> {};

TEST_P(Closing, descriptors_that_are_not_its_own_fails_the_test_that_does_and_skips_those_after_it) {
  const std::string name = GetParam();
  const auto expect_failure_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--gtest_filter=" + name + ":Then.*"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run("closing", arguments);
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_EQ(count(ended.out, name + " left this process without its slot in the ledger: file descriptor "), 1U);
    EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Then.comes_another"));
    EXPECT_TRUE(entries().empty()) << "nothing is left behind";
  };
  expect_failure_of({});
  // Under GoogleTest's throwing listener a failure is an exception, and a lease is given back where none may leave. A
  // process that sees another device, too, can no longer read what that one shows.
  set("GPUTEST_DEVICES", "simulated:2x4GiB,context=0");
  expect_failure_of({"--gtest_throw_on_failure"});
  set("USE_DEVICES_EARLY", "1");
  expect_failure_of({"--gtest_throw_on_failure"});
}

INSTANTIATE_TEST_SUITE_P(Of, Closing,
                         testing::Values("Closes.all", "Closes.mutex", "Closes.ledger", "Closes.fifo",
                                         "Scoped.closes_mutex_without_a_lease", "Scoped.closes_mutex_under_a_lease"));

using Opening = SuiteTest;

TEST_F(Opening, nothing_any_more_fails_no_test_because_somebody_waits_for_its_lease_but_the_next_one) {
  set("GPUTEST_MEMORY", "3GiB");
  auto suite = start("closing", {"--gtest_filter=Lowers.limit:Then.*"});
  suite.wait_for_out("@body");
  auto waiter = start("annotated", {"--gtest_filter=Medium.with_bytes"});
  wait_for(waiter, policy::Stage::waiting);
  suite.say("go on");
  waiter.wait_for_out("@body");
  const Ended ended = suite.finish();
  EXPECT_THAT(ended.out, HasSubstr("[       OK ] Lowers.limit"));
  EXPECT_THAT(ended.out, HasSubstr("this process has lost its place on the ledger: cannot wake the owner of "));
  EXPECT_THAT(ended.out, HasSubstr("[  FAILED  ] Then.comes_another"));
}

} // namespace
} // namespace gputest::tests
