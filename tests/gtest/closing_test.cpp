// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

class Closing : public SuiteTest, public testing::WithParamInterface<std::string> {};

TEST_P(Closing, descriptors_that_are_not_its_own_fails_the_test_that_does_and_skips_those_after_it) {
  const std::string name = GetParam();
  const Ended ended = run("closing", {"--gtest_filter=" + name + ":Then.*"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("[  FAILED  ] " + name));
  EXPECT_THAT(ended.out, HasSubstr(name + " left this process without its slot in the ledger: file descriptor "));
  EXPECT_THAT(ended.out, HasSubstr(", was closed by something else in this process; a test must close no descriptors "
                                   "but its own (not all from 3 on, and none of its own twice). The tests after it are "
                                   "skipped; run them without it"));
  EXPECT_EQ(count(ended.out, "left this process without its slot in the ledger: "), 1U) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("Then.comes_another cannot use a GPU in this process: " + name +
                                   " left it without its slot in the ledger. Run it by itself"));
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Then.comes_another"));
  EXPECT_TRUE(entries().empty()) << "nothing is left behind";
}

// Under GoogleTest's throwing listener a failure is an exception, and a lease is given back where none may leave. A
// process that sees another device, too, can no longer read what that one shows.
TEST_P(Closing, descriptors_ends_no_process_whose_failures_throw_or_that_sees_other_devices_than_its_own) {
  set("GPUTEST_DEVICES", "simulated:2x4GiB,context=0");
  const std::string name = GetParam();
  for (const std::string early : {"", "1"}) {
    if (!early.empty()) {
      set("USE_DEVICES_EARLY", early);
    }
    const Ended ended = run("closing", {"--gtest_filter=" + name + ":Then.*", "--gtest_throw_on_failure"});
    EXPECT_EQ(ended.signal, 0) << ended.err;
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(name + " left this process without its slot in the ledger: file descriptor "));
    EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Then.comes_another"));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Closing,
                         testing::Values("Closes.all", "Closes.mutex", "Closes.ledger", "Closes.fifo",
                                         "Scoped.closes_mutex_without_a_lease", "Scoped.closes_mutex_under_a_lease"));

} // namespace
} // namespace gputest::tests
