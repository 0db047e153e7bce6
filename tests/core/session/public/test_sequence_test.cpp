// SPDX-License-Identifier: BSD-3-Clause
// The sequence around a test, as an adapter to a test framework uses it. Each test is a process of its own.
#include "core_test.hpp"
#include "support/private_folder.hpp"

#include <gputest/session.hpp>
#include <gputest/settings.hpp>
#include <gputest/test_sequence.hpp>

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

namespace gputest {
namespace {

using namespace literals;
using detail::TestNeeds;
using testing::HasSubstr;
using testing::IsEmpty;
using End = detail::TestRun::End;
using Kind = Outcome::Kind;
using Stage = Claimant::Stage;
using Use = TestNeeds::Use;

class CoreTestSequence : public testing::Test {
protected:
  CoreTestSequence() {
    set("GPUTEST_DEVICES", "simulated:1x4GiB,context=0");
    set("GPUTEST_DIR", folder_.path() + "/ledger");
    unsetenv("CUDA_VISIBLE_DEVICES");
  }

  static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

  void open(bool any = true) {
    sequence_.open(any, "no test uses a GPU", [](const Request& /*entry*/) { return Plan{{3_GiB}, {}, false, ""}; });
  }

  [[nodiscard]] static Claimant own() { return status(settings_from_environment()).at(0); }

  tests::PrivateFolder folder_;
  detail::TestSequence sequence_;
};

TEST_F(CoreTestSequence, leases_when_a_test_begins_and_examines_it_after_the_lease_was_given_back) {
  open();
  EXPECT_EQ(sequence_.begin("Sort.Keys", {Use::lease, 3_GiB, ""}).kind, Kind::granted);
  EXPECT_EQ(own().stage, Stage::holding);
  EXPECT_EQ(sequence_.end("Sort.Keys").evidence, "exact") << "of the lease, which has ended";
  EXPECT_EQ(own().stage, Stage::inside);
}

TEST_F(CoreTestSequence, exchanges_the_lease_of_a_test_that_turns_out_to_need_another) {
  open();
  EXPECT_EQ(sequence_.begin("Sort.Keys", {Use::lease, 3_GiB, ""}).kind, Kind::granted);
  EXPECT_EQ(sequence_.ask("Sort.Keys", {Use::lease, 1_GiB, ""}).kind, Kind::granted);
  EXPECT_EQ(own().lease, 1_GiB);
  EXPECT_EQ(sequence_.ask("Sort.Keys", {Use::own, 1_GiB, ""}).kind, Kind::granted);
  EXPECT_EQ(own().stage, Stage::inside);
}

TEST_F(CoreTestSequence, keeps_the_lease_of_a_suite_until_the_suite_ends) {
  open();
  EXPECT_EQ(sequence_.begin_suite("Sort", {Use::lease, 3_GiB, ""}).kind, Kind::granted);
  EXPECT_EQ(sequence_.begin("Sort.Keys", {Use::shared, 1_GiB, ""}).kind, Kind::granted);
  EXPECT_THAT(sequence_.end("Sort.Keys").problems, IsEmpty());
  EXPECT_EQ(own().lease, 3_GiB);
  EXPECT_THAT(sequence_.end_suite("Sort").problems, IsEmpty());
  EXPECT_EQ(own().stage, Stage::inside);
}

TEST_F(CoreTestSequence, gives_each_test_of_a_suite_that_has_no_lease_the_suites_reason) {
  open();
  const auto of_suite = sequence_.begin_suite("Sort", {Use::lease, 5_GiB, ""});
  EXPECT_EQ(of_suite.kind, Kind::skip);
  EXPECT_EQ(sequence_.begin("Sort.Keys", {Use::shared, 1_GiB, ""}).reason, of_suite.reason);
}

TEST_F(CoreTestSequence, logs_one_skip_of_a_test_that_was_asked_about_before_it_began) {
  const auto log = folder_.path() + "/log";
  set("GPUTEST_LOG", log);
  open();
  Request two = 1_GiB;
  two.gpus = 2;
  EXPECT_FALSE(sequence_.can_run("Sort.Keys", {Use::own, two, ""}));
  EXPECT_EQ(sequence_.begin("Sort.Keys", {Use::own, two, ""}).kind, Kind::skip);
  EXPECT_EQ(tests::count_events(log, "skip"), 1);
}

TEST_F(CoreTestSequence, with_settings_that_cannot_be_used_fails_the_tests_that_use_a_gpu) {
  set("GPUTEST_RUN_MODE", "sometimes");
  open();
  EXPECT_FALSE(sequence_.can_run("Sort.Keys", {Use::lease, 1_GiB, ""}));
  EXPECT_THAT(sequence_.begin("Sort.Keys", {Use::lease, 1_GiB, ""}).reason, HasSubstr("GPUTEST_RUN_MODE"));
  EXPECT_TRUE(sequence_.has_failed_one());
  EXPECT_TRUE(sequence_.can_run("Sort.Host", {Use::none, {}, ""}));
  EXPECT_EQ(sequence_.begin("Sort.Host", {Use::none, {}, ""}).kind, Kind::granted);
}

TEST_F(CoreTestSequence, of_tests_without_a_gpu_never_enters_and_is_opened_again_for_the_next_entry) {
  open(false);
  EXPECT_EQ(sequence_.begin("Sort.Host", {Use::none, {}, ""}).kind, Kind::granted);
  EXPECT_THAT(sequence_.end("Sort.Host").problems, IsEmpty());
  EXPECT_THAT(status(settings_from_environment()), IsEmpty());
  EXPECT_FALSE(sequence_.next_entry());
  open();
  EXPECT_EQ(own().stage, Stage::inside);
  EXPECT_TRUE(sequence_.next_entry());
}

TEST_F(CoreTestSequence, ends_by_what_its_tests_came_to) {
  open();
  EXPECT_EQ(sequence_.finish(3, 1, true), End::failed);
  EXPECT_EQ(sequence_.finish(3, 1, false), End::passed);
  EXPECT_EQ(sequence_.finish(3, 0, false), End::all_skipped);
  EXPECT_EQ(sequence_.finish(0, 0, false), End::nothing_ran);
}

TEST_F(CoreTestSequence, in_an_entry_is_skipped_if_gputest_has_skipped_one_of_its_tests) {
  set("GPUTEST_ENTRY", "ctest");
  open();
  EXPECT_EQ(sequence_.begin("Sort.Keys", {Use::lease, 5_GiB, ""}).kind, Kind::skip);
  detail::TestRun::TestEnd test;
  test.result = "skipped";
  sequence_.ended(test);
  EXPECT_EQ(sequence_.skips(), 1);
  EXPECT_EQ(sequence_.finish(3, 2, false), End::all_skipped);
}

} // namespace
} // namespace gputest
