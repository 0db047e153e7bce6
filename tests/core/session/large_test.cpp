// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/host.hpp"
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using policy::Stage;
using testing::HasSubstr;
using testing::Not;

/// What becomes of large tests.
class LargeTests : public SuiteTest {};

TEST_F(LargeTests, are_excluded_while_tests_run_in_parallel_with_the_command_that_runs_them) {
  set("GPUTEST_RUN_MODE", "parallel");
  const Ended ended = run("classes", {"--gtest_filter=Large.*"});
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_THAT(ended.out, HasSubstr("classes: Large.first is large, and excluded while tests run in parallel "
                                   "(GPUTEST_RUN_MODE=parallel). To run it alone: /"));
  EXPECT_THAT(ended.out, HasSubstr("classes '--gtest_filter=Large.*' --gtest_filter=Large.first; to run it with "
                                   "the others: LARGE serial or LARGE wait in gpu_add_test() or gpu_discover_tests()"));
  EXPECT_THAT(ended.out, HasSubstr("classes: Large.second is large"));
  EXPECT_THAT(ended.out, Not(HasSubstr("@body")));
  set("GPUTEST_TEST", "suite.large+");
  EXPECT_THAT(run("classes", {"--gtest_filter=Large.first"}).out,
              HasSubstr(R"( -j1 -R '^suite\.large\+$'; to run it with)"));
}

TEST_F(LargeTests, are_excluded_where_others_use_their_device) {
  auto holder = start_holder();
  const Ended ended = run("classes", {"--gtest_filter=Large.first"});
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_THAT(ended.out,
              HasSubstr("classes: Large.first is large, and excluded while other processes use its device: annotated: "
                        "Medium.with_bytes (pid " +
                        std::to_string(holder.pid()) + ", 3 GiB, for "));
  EXPECT_THAT(
      ended.out,
      HasSubstr("classes --gtest_filter=Large.first --gtest_filter=Large.first; to let it wait for "
                "them: GPUTEST_LARGE=wait, or LARGE wait in gpu_add_test() or gpu_discover_tests(); to run it beside "
                "them, such as a server of its own fixture: a size in place of large"));
}

TEST_F(LargeTests, run_on_what_external_processes_leave_if_that_is_half_of_the_device_else_say_what_to_set) {
  const auto host = os::read_host_memory();
  ASSERT_TRUE(host);
  const auto device_of = [&](std::uint64_t quarters_available) {
    return "simulated:1x" + std::to_string(host->available_bytes / 4 * quarters_available >> 20U) +
           "MiB,integrated,context=0";
  };
  set("GPUTEST_DEVICES", device_of(6)); // a third of it is used by others
  EXPECT_EQ(run("classes", {"--gtest_filter=Large.first"}).exit_code, 0);
  set("GPUTEST_DEVICES", device_of(16));
  const Ended ended = run("classes", {"--gtest_filter=Large.first"});
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_THAT(ended.out, HasSubstr("Large.first is large, and excluded while other processes use its device: programs "
                                   "that are not on this ledger: "));
  EXPECT_THAT(ended.out, HasSubstr("if they stay, GPUTEST_DEVICE_MEMORY=<the size that they leave> limits what"));
  set("GPUTEST_DEVICE_MEMORY", std::to_string(host->available_bytes / 2 >> 20U) + "MiB");
  EXPECT_EQ(run("classes", {"--gtest_filter=Large.first"}).exit_code, 0);
}

TEST_F(LargeTests, are_all_those_of_a_large_entry) {
  set("GPUTEST_MEMORY", "large");
  set("GPUTEST_RUN_MODE", "parallel");
  const Ended ended = run("classes", {"--gtest_filter=Small.first:NoFixture.first"});
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_EQ(count(ended.out, "is large, and excluded while tests run in parallel"), 2U) << ended.out;
}

/// With the policies under which a large test waits.
class WaitingLargeTests : public SuiteTest, public testing::WithParamInterface<std::string> {};

TEST_P(WaitingLargeTests, run_when_those_before_them_have_ended) {
  auto holder = start_holder();
  set("GPUTEST_LARGE", GetParam());
  set("GPUTEST_RUN_MODE", "parallel");
  auto large = start("classes", {"--gtest_filter=Large.first"});
  wait_for(large, Stage::entering);
  EXPECT_EQ(claim_of(holder).stage, Stage::holding);
  EXPECT_EQ(holder.finish().exit_code, 0);
  large.wait_for_out("@constructor");
  EXPECT_TRUE(claim_of(large).exclusive);
  EXPECT_EQ(large.finish().exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Policies, WaitingLargeTests, testing::Values("wait", "serial"),
                         [](const auto& test) { return test.param; });

} // namespace
} // namespace gputest::tests
