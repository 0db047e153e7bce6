// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <sys/syscall.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A process that uses devices before gputest can choose some.
class EarlyUse : public SuiteTest {
protected:
  EarlyUse() { set("GPUTEST_DEVICES", "simulated:3x4GiB,context=64MiB"); }

  [[nodiscard]] static std::string device(int index) { return "SIM-3x4096MiB-" + std::to_string(index); }
};

constexpr std::uint64_t mib = 1U << 20U;

TEST_F(EarlyUse, is_claimed_where_it_is_and_told_of_once) {
  set("EARLY", "1");
  auto suite = start("early", {"--gtest_filter=Early.says*:Stray.uses_nothing"});
  suite.wait_for_out("@body");
  const auto claim = claim_of(suite);
  EXPECT_EQ(claim.stage, policy::Stage::holding);
  EXPECT_EQ(claim.overhead_bytes, 1088 * mib) << "what it has allocated and its context";
  const Ended ended = suite.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("current_devices() are " + device(1) + "\n"));
  EXPECT_EQ(count(ended.err, "CUDA was initialised before gputest could choose a device, so this process uses " +
                                 device(1) + "; to let gputest choose, call run_all_tests()"),
            1U)
      << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("LAUNCHER on"));
}

TEST_F(EarlyUse, is_claimed_on_all_devices_in_the_order_of_cuda) {
  set("CUDA_VISIBLE_DEVICES", "2,1,0");
  set("EARLY", "2");     // device 0 of the machine
  set("EARLY_TOO", "0"); // and device 2
  EXPECT_THAT(run("early", {"--gtest_filter=Early.says*"}).out,
              HasSubstr("current_devices() are " + device(2) + " " + device(0) + "\n"));
}

TEST_F(EarlyUse, gets_further_devices_that_it_sees_first) {
  set("GPUTEST_GPUS", "2");
  for (const std::string early : {"0", "1"}) {
    set("EARLY", early);
    EXPECT_THAT(run("early", {"--gtest_filter=Early.says*"}).out,
                HasSubstr("current_devices() are " + device(0) + " " + device(1) + "\n"));
  }
}

TEST_F(EarlyUse, is_on_the_ledger_at_once_where_there_is_no_room_and_waits_while_others_go_on) {
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=64MiB");
  auto holder = start_holder(); // 3 GiB, which leaves no room for another GiB and two contexts
  set("EARLY", "0");
  set("GPUTEST_WAIT_LIMIT", "0s");
  const Ended ended = run("early", {"--gtest_filter=Early.asks_for_more"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("waited 0 s, its wait limit, for 2 GiB and was not admitted. In its way: "));
  unset("GPUTEST_WAIT_LIMIT");
  auto suite = start("early", {"--gtest_filter=Early.asks_for_more"});
  wait_for(suite, policy::Stage::inside);
  EXPECT_EQ(holder.finish().exit_code, 0);
  EXPECT_EQ(suite.finish().exit_code, 0);
}

TEST_F(EarlyUse, comes_no_nearer_to_its_wait_limit_while_it_is_stopped) {
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=64MiB");
  auto holder = start_holder();
  set("EARLY", "0");
  set("GPUTEST_WAIT_LIMIT", "1s");
  auto suite = start("early", {"--gtest_filter=Early.asks_for_more"});
  for (long call = -1; call != SYS_ppoll; std::this_thread::yield()) {
    std::ifstream{"/proc/" + std::to_string(suite.pid()) + "/syscall"} >> call;
  }
  suite.kill(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds{1});
  suite.kill(SIGCONT);
  suite.wait_for_err(" waits for 2 GiB");
  EXPECT_EQ(holder.finish().exit_code, 0);
  const Ended ended = suite.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
}

TEST_F(EarlyUse, does_not_wait_for_who_waits_for_its_context_and_runs_again_if_its_entry_declares_nothing) {
  set("GPUTEST_DEVICES", "simulated:1x4GiB,context=64MiB");
  set("EARLY", "0");
  set("SET_UP", "2900MiB");
  for (const std::string memory : {"2GiB", "auto"}) {
    unset("GPUTEST_ENTRY");
    unset("GPUTEST_MEMORY");
    auto other = start("undeclared", {"--gtest_filter=SetUp.*"});
    other.wait_for_out("@set-up");
    other.say("go on");
    other.wait_for_out("@set up");
    set("GPUTEST_ENTRY", "ctest");
    set("GPUTEST_MEMORY", memory);
    auto suite =
        start_program({GPUTEST_ENTRY_PROGRAM, "--watch", path_of("early"), "--gtest_filter=Early.asks_for_more"});
    while (entries().size() < 2) {
      std::this_thread::yield();
    }
    other.say("go on");
    other.wait_for_out("@body"); // for which it has waited
    EXPECT_EQ(other.finish().exit_code, 0);
    const Ended ended = suite.finish();
    EXPECT_THAT(ended.out + ended.err,
                HasSubstr(memory == "auto" ? "It runs once more, alone. "
                                           : "CUDA was initialised before gputest could wait for room; to let it wait, "
                                             "call run_all_tests() before the first CUDA call, or start it by the "
                                             "launcher: LAUNCHER on"));
  }
}

TEST_F(EarlyUse, of_a_device_not_given_fails_the_test_once) {
  set("EARLY", "0");
  const auto reports = reports_of("early", "Stray.uses*");
  EXPECT_THAT(reports.at("Stray.uses_device_1").failures,
              HasSubstr("Stray.uses_device_1 leaves this process a context on a device that was not given to it: 64 "
                        "MiB on " +
                        device(1) + " (simulated device)"));
  EXPECT_THAT(reports.at("Stray.uses_device_1").failures, HasSubstr("It was given " + device(0)));
  EXPECT_EQ(reports.at("Stray.uses_nothing").failures, "");
  EXPECT_EQ(reports.at("Stray.uses_device_1_again").failures, "");
  EXPECT_THAT(reports.at("Stray.uses_device_2").failures, HasSubstr("64 MiB on " + device(2)));
}

TEST_F(EarlyUse, below_a_lease_that_has_chosen_is_none) {
  auto holder = start_holder();
  const auto parent_lease = entries().at(0);
  set("GPUTEST_LEASE_OF", ledger::credential_of(parent_lease));
  set("CUDA_VISIBLE_DEVICES", device(0));
  set("EARLY", "0");
  const Ended ended = run("early", {"--gtest_filter=Early.says*"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.err, Not(HasSubstr("before gputest could choose")));
}

} // namespace
} // namespace gputest::tests
