// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

/// Processes of which no test can run, whatever others hold, beside one that holds the whole device.
class NoneCanRun : public SuiteTest {
protected:
  NoneCanRun() {
    holder_.emplace(start("classes", {"--gtest_filter=Large.first"}));
    holder_->wait_for_out("@constructor");
    set("GPUTEST_WAIT_LIMIT", "1s"); // after it a process that waits fails
  }

  void expect_skip(const std::string& suite, const std::string& filter, const std::string& reason) const {
    const Ended ended = run(suite, {"--gtest_filter=" + filter});
    EXPECT_EQ(ended.exit_code, 77) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(reason));
  }

private:
  std::optional<ChildProcess> holder_;
};

TEST_F(NoneCanRun, does_not_wait_to_skip_what_no_device_can_hold) {
  expect_skip("suite_leases", "TooMuch.first", "suite_leases: TooMuch needs 100 GiB of a device");
}

TEST_F(NoneCanRun, does_not_wait_to_skip_what_is_excluded) {
  set("GPUTEST_RUN_MODE", "parallel");
  expect_skip("classes", "Large.second", "classes: Large.second is large, and excluded while tests run in parallel");
}

TEST_F(NoneCanRun, does_not_wait_to_skip_what_needs_more_devices_than_there_are) {
  set("GPUTEST_GPUS", "2");
  expect_skip("classes", "NoFixture.first", "classes: NoFixture.first needs 2 GPUs and may use 1");
}

TEST_F(NoneCanRun, does_not_wait_to_skip_what_its_devices_cannot_do) {
  expect_skip("requiring", "Some/Parameterised.*",
              "requiring: Some/Parameterised.needs_tcc/0 requires what its devices do not have: asked tcc");
}

TEST_F(NoneCanRun, waits_if_one_of_its_tests_can_run) {
  const Ended ended = run("suite_leases", {"--gtest_filter=TooMuch.first:After.*"});
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("suite_leases waited 1 s, its wait limit, for a place on a GPU"));
}

} // namespace
} // namespace gputest::tests
