// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

#include <filesystem>

namespace gputest::tests {
namespace {

using namespace literals;
using testing::HasSubstr;
using testing::Not;

class Adapter : public SuiteTest {
protected:
  /// Checks that each test of a suite with all classes fails with `message`, and that no test's body runs.
  void expect_every_test_to_fail_with(const std::string& message) const {
    const auto reports = reports_of("classes", "*");
    ASSERT_EQ(reports.size(), 9U);
    for (const auto& [name, report] : reports) {
      EXPECT_THAT(report.failures, HasSubstr(message)) << name;
    }
    const Ended ended = run("classes");
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.out, Not(HasSubstr("@body")));
  }
};

TEST_F(Adapter, that_runs_one_case_after_another_announces_the_most_that_any_case_may_ask_for) {
  set("GPUTEST_CASES", "Medium.with_a_class");
  auto worker = start("annotated");
  worker.wait_for_out("@body");
  EXPECT_EQ(Bytes{claim_of(worker).largest_bytes}, 3_GiB) << "100 GiB never fit";
  EXPECT_EQ(worker.finish().exit_code, 0);
}

TEST_F(Adapter, fails_every_test_where_a_setting_cannot_be_used) {
  set("GPUTEST_MEMORY", "3GB");
  expect_every_test_to_fail_with("GPUTEST_MEMORY '3GB' has an unknown unit 'GB'");
  unset("GPUTEST_MEMORY");
  set("GPUTEST_DIR", "/proc/nobody-can-write-here");
  expect_every_test_to_fail_with("cannot make the folder /proc/nobody-can-write-here");
}

TEST_F(Adapter, skips_every_test_without_a_gpu) {
  set("GPUTEST_DEVICES", "none");
  const Ended ended = run("classes");
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_EQ(
      count(ended.out,
            "no GPU: GPUTEST_DEVICES=none asks for none. Simulated devices, which have memory and run no kernels: "
            "GPUTEST_DEVICES=simulated:1x16GiB. On a machine that is meant to run its tests, "
            "GPUTEST_FORBID_SKIP=machine makes this skip a failure"),
      9U)
      << ended.out;
  EXPECT_THAT(ended.out, Not(HasSubstr("@body")));
  EXPECT_FALSE(std::filesystem::exists(ledger()));
}

TEST_F(Adapter, pins_its_device_before_any_user_code_of_the_tests) {
  set("GPUTEST_DEVICES", "simulated:2x4GiB,context=0");
  const Ended ended = run("pinned", {"--gtest_filter=Visible.*"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("the environment sees SIM-2x4096MiB-0\n"));
  EXPECT_THAT(ended.out, HasSubstr("the suite sees SIM-2x4096MiB-0\n"));
  EXPECT_THAT(ended.out, HasSubstr("the test sees SIM-2x4096MiB-0\n"));
  EXPECT_THAT(ended.out, HasSubstr("current_devices() are SIM-2x4096MiB-0\n"));
}

TEST_F(Adapter, runs_a_process_that_its_test_starts_under_its_lease) {
  set("GPUTEST_DEVICES", "simulated:2x4GiB,context=0");
  const Ended ended = run("pinned", {"--gtest_filter=Starting.a_test_that_fits_its_lease"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the started test sees SIM-2x4096MiB-0\n"));
}

} // namespace
} // namespace gputest::tests
