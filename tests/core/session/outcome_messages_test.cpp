// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/outcome_messages.hpp"

#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"

#include <gmock/gmock.h>

#include <string>

namespace gputest::session {
namespace {

using namespace literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Kind = Outcome::Kind;
using Answer = ledger::Result::Kind;

/// What a test becomes by the ledger's answer.
class OutcomeMessagesTest : public ::testing::Test {
protected:
  OutcomeMessagesTest() {
    result_.blocked.own_overhead_bytes = (2_GiB).count();
    result_.blocked.blockers.push_back(other());
    result_.refusal = {(5_GiB).count(), (4_GiB).count(), 1, 1};
  }

  static ledger::Record other() {
    ledger::Record other;
    other.who = "other";
    other.pid = 4711;
    other.claim.stage = policy::Stage::waiting;
    other.claim.overhead_bytes = (1_GiB).count();
    other.claim.lease_bytes = (3_GiB).count();
    return other;
  }

  Outcome outcome_of(Answer answer) {
    result_.kind = answer;
    return messages_.outcome_of(result_, "3 GiB", "Sort.Keys");
  }

  Settings settings_;
  Entry entry_;
  ledger::Result result_;
  OutcomeMessages messages_{settings_, entry_, "suite"};
};

TEST_F(OutcomeMessagesTest, skip_what_no_device_can_ever_hold_and_fail_it_where_that_skip_is_forbidden) {
  const auto outcome = outcome_of(Answer::refused);
  EXPECT_EQ(outcome.kind, Kind::skip);
  EXPECT_THAT(outcome.reason, HasSubstr("suite: Sort.Keys needs 5 GiB of a device, its context included, and the "
                                        "largest that it may use has 4 GiB"));
  settings_.forbid_skip = ForbidSkip::machine;
  EXPECT_EQ(outcome_of(Answer::refused).kind, Kind::fail);
  EXPECT_FALSE(outcome_of(Answer::refused).not_freed);
}

TEST_F(OutcomeMessagesTest, fail_what_has_no_room_while_everybody_waits) {
  const auto outcome = outcome_of(Answer::stuck);
  EXPECT_EQ(outcome.kind, Kind::fail);
  EXPECT_TRUE(outcome.not_freed);
  EXPECT_THAT(outcome.reason, HasSubstr("suite: Sort.Keys needs 3 GiB, and what the processes on its device have "
                                        "without a lease leaves no room for it: this process 2 GiB, other (pid 4711) "
                                        "1 GiB"));
}

TEST_F(OutcomeMessagesTest, skip_what_may_not_wait_unless_it_is_a_rank) {
  EXPECT_EQ(outcome_of(Answer::would_wait).kind, Kind::skip);
  settings_.forbid_skip = ForbidSkip::machine;
  EXPECT_EQ(outcome_of(Answer::would_wait).kind, Kind::skip) << "the machine could run it";
  messages_.set_rank(MpiRank{1, 2, "RANK=1"});
  const auto outcome = outcome_of(Answer::would_wait);
  EXPECT_EQ(outcome.kind, Kind::fail);
  EXPECT_TRUE(outcome.not_freed);
  EXPECT_THAT(outcome.reason, HasSubstr("is an MPI rank (RANK=1 of 2)"));
}

TEST_F(OutcomeMessagesTest, fail_what_waited_too_long_or_was_not_announced) {
  auto outcome = outcome_of(Answer::timed_out);
  EXPECT_EQ(outcome.kind, Kind::fail);
  EXPECT_TRUE(outcome.not_freed);
  EXPECT_THAT(outcome.reason, HasSubstr("waited 20 min, its wait limit, for 3 GiB"));
  result_.blocked.blockers.front().kept_by = 0;
  EXPECT_THAT(outcome_of(Answer::timed_out).reason,
              HasSubstr("; it has ended, and a process that it left running keeps this)"));
  result_.blocked.blockers.front().kept_by = os::own_pid();
  EXPECT_THAT(outcome_of(Answer::timed_out).reason,
              HasSubstr("keeps this: " + std::to_string(os::own_pid()) + " (session_tests))"));
  outcome = outcome_of(Answer::unannounced);
  EXPECT_EQ(outcome.kind, Kind::fail);
  EXPECT_FALSE(outcome.not_freed) << "to wait would not help";
  EXPECT_THAT(outcome.reason, HasSubstr("more than its process announced when it started"));
}

TEST_F(OutcomeMessagesTest, tell_an_entry_that_it_waits_without_the_names_of_others_which_are_on_its_page) {
  const os::TestStatusPage page;
  os::set_status_page_of_process(os::TestStatusPage::open(page.path()));
  const auto said = [&](os::Output output) {
    os::set_output_of_process(output);
    testing::internal::CaptureStderr();
    bool printed = false;
    const auto patience = messages_.patience("Sort.Keys", "3 GiB", &printed);
    patience.on_wait(result_.blocked);
    patience.on_wait(result_.blocked); // for the page
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said(os::Output::judged), "");
  EXPECT_THAT(
      said(os::Output::of_entry),
      AllOf(HasSubstr("gputest: suite: Sort.Keys waits for 3 GiB. 'gputest status' "), Not(HasSubstr("other"))));
  const auto once = said(os::Output::free);
  EXPECT_THAT(once, HasSubstr("gputest: suite: Sort.Keys waits for 3 GiB: other (pid 4711"));
  EXPECT_EQ(once.find(" waits for "), once.rfind(" waits for ")) << once;
  EXPECT_THAT(page.waits_for(), HasSubstr("suite: Sort.Keys waits for 3 GiB: other (pid 4711"));
  os::set_status_page_of_process(nullptr);
}

TEST_F(OutcomeMessagesTest, give_who_asked_to_be_called_the_names_of_others_only_if_ctest_does_not_have_the_output) {
  std::string text;
  messages_.while_waiting([&](const std::string& waits) { text = waits; });
  const auto said = [&](os::Output output) {
    os::set_output_of_process(output);
    bool printed = true;
    messages_.patience("Sort.Keys", "3 GiB", &printed).on_wait(result_.blocked);
    return text;
  };
  for (const auto output : {os::Output::of_ctest, os::Output::of_entry, os::Output::judged}) {
    EXPECT_EQ(said(output), "suite: Sort.Keys waits for 3 GiB");
  }
  EXPECT_THAT(said(os::Output::free), HasSubstr("suite: Sort.Keys waits for 3 GiB: other (pid 4711"));
}

TEST_F(OutcomeMessagesTest, name_a_test_with_its_entry_or_else_its_program) {
  EXPECT_EQ(messages_.full_name("Sort.Keys"), "suite: Sort.Keys");
  EXPECT_EQ(messages_.full_name(""), "suite");
  entry_.name = "sort";
  EXPECT_EQ(messages_.full_name("Sort.Keys"), "sort: Sort.Keys");
  EXPECT_EQ(messages_.full_name(""), "sort");
  EXPECT_EQ(messages_.full_name("sort"), "sort") << "CTest's name and the test's are one";
  entry_.name = "so\x1B[2Jrt";
  EXPECT_EQ(messages_.full_name("K\neys"), "so?[2Jrt: K?eys") << "in messages and in the ledger";
}

TEST_F(OutcomeMessagesTest, name_the_setting_that_makes_devices_smaller) {
  EXPECT_EQ(outcome_of(Answer::refused).reason.find("GPUTEST_DEVICE_MEMORY"), std::string::npos);
  settings_.device_memory = 4_GiB;
  EXPECT_THAT(outcome_of(Answer::refused).reason, testing::EndsWith(" (GPUTEST_DEVICE_MEMORY limits it)"));
  result_.refusal.asked_gpus = 3;
  result_.refusal.gpus = 2;
  EXPECT_EQ(outcome_of(Answer::refused).reason,
            "suite: Sort.Keys needs 3 GPUs, and may use 2 (GPUTEST_DEVICE_MEMORY limits it)");
}

} // namespace
} // namespace gputest::session
