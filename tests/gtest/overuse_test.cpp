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

const std::string of_suite = "Memory needs a lease before it is taken: for SetUpTestSuite() "
                             "GPUTEST_SUITE_NEEDS(<suite>, <size>, suite_lease)";

/// Memory that is taken without a lease, or beyond one.
class Overuse : public SuiteTest {
protected:
  Overuse() { set("GPUTEST_MEMORY", "small"); }

  /// Starts two processes that take 1.5 of 4 GiB without a lease, and then ask for 1.5 GiB each: neither can have them
  /// beside what the other has. The first to ask has to fail at once, with `story`, and the other has to go on.
  void expect_one_to_go_on(const std::string& filter, const std::string& before, const std::string& story,
                           const std::string& remedy) const {
    auto first = start("overuse", {"--gtest_filter=" + filter});
    auto second = start("overuse", {"--gtest_filter=" + filter});
    for (auto* process : {&first, &second}) {
      if (!before.empty()) {
        process->wait_for_out("@" + before);
        process->say("go on");
      }
      process->wait_for_out("@taken");
    }
    first.close_input(); // it stops nowhere any more
    wait_for(first, Stage::waiting);
    second.say("go on");
    const Ended failed = first.finish();
    EXPECT_EQ(failed.exit_code, 1) << failed.out;
    EXPECT_EQ(count(failed.out, " needs 1.5 GiB, and what the processes on its device have without a lease leaves no "
                                "room for it: this process 1.5 GiB, overuse"),
              2U)
        << failed.out;
    EXPECT_THAT(failed.out, HasSubstr("(pid " + std::to_string(second.pid()) + ") 1.5 GiB (" + story + "). They all"));
    EXPECT_THAT(failed.out, HasSubstr(remedy + ". If these are only"));
    second.wait_for_out("@body");
    const Ended passed = second.finish();
    EXPECT_EQ(passed.exit_code, 0) << passed.out;
  }
};

TEST_F(Overuse, of_two_suites_that_wait_for_each_other_fails_one_at_once_and_lets_the_other_go_on) {
  expect_one_to_go_on("Unleased.*", "SetUpTestSuite", "Unleased::SetUpTestSuite() took 1.5 GiB", of_suite);
}

TEST_F(Overuse, of_two_scoped_tests_that_wait_for_each_other_fails_one_at_once_and_lets_the_other_go_on) {
  expect_one_to_go_on("Scoped.*", "", "Scoped.first, before its GPUTEST_LEASE, took 1.5 GiB",
                      "Memory needs a lease before it is taken: in a test GPUTEST_LEASE(<size>)");
}

TEST_F(Overuse, before_the_tests_of_a_suite_is_named_and_counted_until_it_is_given_back) {
  auto suite = start("overuse", {"--gtest_filter=Unleased.first:Plain.takes_what_it_leases"});
  suite.wait_for_out("@SetUpTestSuite");
  suite.say("go on");
  suite.wait_for_out("@taken");
  suite.say("go on");
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).overhead_bytes, (1536_MiB).count());
  suite.say("go on");
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).overhead_bytes, 0U);
  const Ended ended = suite.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_EQ(count(ended.err, " without a lease"), 1U) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("gputest: Unleased::SetUpTestSuite() took 1.5 GiB without a lease: tests of other "
                                   "processes may run out of memory. " +
                                   of_suite + "\n"));
  EXPECT_THAT(ended.err, Not(HasSubstr("and its lease is"))) << "no test took it";
}

TEST_F(Overuse, that_leaves_no_room_for_the_process_s_own_tests_fails_them) {
  const auto reports = reports_of("overuse", "TooLarge.*");
  EXPECT_THAT(reports.at("TooLarge.first").failures,
              HasSubstr("overuse: TooLarge.first needs 3 GiB, and its own process already has 1.5 GiB of the device "
                        "without a lease (TooLarge::SetUpTestSuite() took 1.5 GiB), which leaves no room for it"));
}

TEST_F(Overuse, is_what_a_waiting_test_names_and_no_external_process) {
  auto holder = start("overuse", {"--gtest_filter=Plain.takes_most"});
  holder.wait_for_out("@body");
  auto waiter = start("overuse", {"--gtest_filter=Plain.leases_more"});
  waiter.wait_for_err("waits for a place on a GPU: overuse: Plain.takes_most (pid " + std::to_string(holder.pid()) +
                      ", 256 MiB, for ");
  waiter.wait_for_err("; it holds 3.62 GiB beyond its lease)");
  EXPECT_EQ(holder.finish().exit_code, 0);
  waiter.wait_for_out("@body");
  EXPECT_THAT(waiter.finish().err, Not(HasSubstr("programs that are not on this ledger")));
}

TEST_F(Overuse, is_what_a_test_that_runs_out_of_memory_names) {
  auto holder = start("overuse", {"--gtest_filter=Plain.takes_what_it_leases:Plain.takes_most"});
  holder.wait_for_out("@body");
  const std::string report = folder() + "/report.json";
  auto victim = start("overuse", {"--gtest_filter=Plain.takes_late", "--gtest_output=json:" + report});
  victim.wait_for_out("@body");
  holder.say("go on");
  holder.wait_for_out("@body");
  const Ended ended = victim.finish();
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  const std::string named = ". In use beyond all leases: overuse: "
                            "Plain.takes_most (pid " +
                            std::to_string(holder.pid()) + ", 256 MiB, for ";
  EXPECT_THAT(ended.err,
              HasSubstr("gputest: overuse: Plain.takes_late ran out of memory under its lease of 256 MiB. "
                        "With what it asked for, it would have had 256 MiB, which its lease covers. It had"));
  EXPECT_THAT(ended.err, HasSubstr(named));
  EXPECT_THAT(ended.err, HasSubstr("; it holds 3.62 GiB beyond its lease)"));
  EXPECT_THAT(ended.err, Not(HasSubstr("Other leases there"))) << "it is named once";
  EXPECT_THAT(read_reports(report).at("Plain.takes_late").out_of_memory, HasSubstr(named));
  EXPECT_EQ(holder.finish().exit_code, 0);
}

TEST_F(Overuse, is_looked_for_in_each_test_that_runs_out_of_memory_and_in_no_other) {
  const auto reports = reports_of("overuse", "Plain.says*");
  const std::string found = " ran out of memory under its lease of 256 MiB. It had allocated 0 B itself: within its "
                            "lease. No process is seen to have more than its lease now";
  EXPECT_THAT(reports.at("Plain.says_out_of_memory").out_of_memory, HasSubstr("Plain.says_out_of_memory" + found));
  EXPECT_EQ(reports.at("Plain.says_nothing").out_of_memory, "");
  EXPECT_THAT(reports.at("Plain.says_the_error_of_cuda").out_of_memory, HasSubstr("says_the_error_of_cuda" + found));
  EXPECT_THAT(reports.at("Plain.says_bad_alloc").out_of_memory, HasSubstr("Plain.says_bad_alloc" + found));
}

} // namespace
} // namespace gputest::tests
