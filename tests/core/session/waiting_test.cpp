// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

#include <csignal>

namespace gputest::tests {
namespace {

using namespace literals;
using policy::Stage;
using testing::HasSubstr;

/// What a process that waits for another one does and says.
class Waiting : public SuiteTest {};

TEST_F(Waiting, names_the_holder_once_and_says_when_it_goes_on) {
  auto holder = start_holder();
  auto waiter = start("annotated", {"--gtest_filter=Medium.with_bytes:NoFixture.with_bytes"});
  waiter.wait_for_err("gputest: annotated: Medium.with_bytes waits for 3 GiB: annotated: Medium.with_bytes (pid " +
                      std::to_string(holder.pid()) + ", 3 GiB, for ");
  EXPECT_EQ(holder.finish().exit_code, 0);
  waiter.wait_for_out("@body");
  const Ended ended = waiter.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(count(ended.err, "waits for"), 1U) << ended.err;
  EXPECT_EQ(count(ended.err, "gputest: admitted"), 1U) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("gputest: admitted annotated: Medium.with_bytes: 3 GiB on SIM-1x4096MiB-0 (simulated), "
                        "after waiting "));
}

TEST_F(Waiting, to_enter_is_reported_with_the_processes_inside) {
  auto holder = start("classes", {"--gtest_filter=Large.first"});
  holder.wait_for_out("@constructor");
  auto waiter = start("classes", {"--gtest_filter=Small.first"});
  waiter.wait_for_err("gputest: classes waits for a place on a GPU: classes: Large.first (pid " +
                      std::to_string(holder.pid()) + ", the whole device, for ");
  EXPECT_EQ(holder.finish().exit_code, 0);
  const Ended ended = waiter.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("gputest: classes goes on, on SIM-1x4096MiB-0"));
  EXPECT_EQ(count(ended.err, "gputest: admitted"), 1U) << ended.err;
}

TEST_F(Waiting, for_memory_ends_at_the_limit_in_a_failure_that_names_the_holder) {
  auto holder = start_holder();
  set("GPUTEST_WAIT_LIMIT", "1s");
  const auto reports = reports_of("annotated", "Medium.with_bytes:Small.says_nothing");
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_THAT(
      reports.at("Medium.with_bytes").failures,
      HasSubstr("annotated: Medium.with_bytes waited 1 s, its wait limit, for 3 GiB and was not admitted. In its "
                "way: annotated: Medium.with_bytes (pid " +
                std::to_string(holder.pid()) + ", 3 GiB, for "));
  EXPECT_EQ(reports.at("Small.says_nothing").failures, "") << "its memory is free";
}

TEST_F(Waiting, is_first_come_first_served) {
  auto holder = start_holder();
  auto first = start("annotated", {"--gtest_filter=Medium.with_bytes"});
  wait_for(first, Stage::waiting);
  auto second = start("annotated", {"--gtest_filter=Medium.says_nothing"});
  wait_for(second, Stage::waiting);
  holder.finish();
  first.wait_for_out("@body");
  EXPECT_EQ(claim_of(second).stage, Stage::waiting);
  first.finish();
  second.wait_for_out("@body");
}

TEST_F(Waiting, ends_when_the_holder_is_killed) {
  auto holder = start_holder();
  auto waiter = start("annotated", {"--gtest_filter=Medium.with_bytes"});
  wait_for(waiter, Stage::waiting);
  holder.kill(SIGKILL);
  waiter.wait_for_out("@body");
  EXPECT_EQ(waiter.finish().exit_code, 0);
  EXPECT_EQ(holder.finish().signal, SIGKILL);
}

TEST_F(Waiting, leaves_room_for_the_contexts_of_all_processes_inside) {
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=512MiB");
  auto holder = start_holder();
  EXPECT_EQ(claim_of(holder).overhead_bytes, (512_MiB).count());
  auto second = start("classes", {"--gtest_filter=Small.first"});
  wait_for(second, Stage::waiting);
  auto third = start("classes", {"--gtest_filter=Small.first"});
  wait_for(third, Stage::entering);
}

} // namespace
} // namespace gputest::tests
