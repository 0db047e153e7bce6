// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <memory>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Tests after which CUDA answers every call of their process with an error.
class StickyError : public SuiteTest {
protected:
  StickyError() {
    set("GPUTEST_DEVICES", "all");
    set("LD_LIBRARY_PATH", GPUTEST_FAKE_DRIVER);
    set("FAKE_NVML", "gpus=1");
  }

  /// Runs these tests, of which `who` leaves the error, and one after them.
  void expect_no_test_to_run_after(const std::string& who, const std::string& filter) const {
    SCOPED_TRACE(who);
    const Ended ended = run("sticky", {"--gtest_filter=" + filter + ":Then.comes_another"});
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_EQ(count(ended.out, who + " left CUDA unusable for the rest of this process: CUDA_ERROR_ILLEGAL_ADDRESS "
                                     "(700). The tests after it are skipped; run them without it"),
              1U)
        << ended.out;
    EXPECT_EQ(count(ended.out, "left CUDA unusable"), 1U) << "of one test only\n" << ended.out;
    EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Then.comes_another"));
    EXPECT_THAT(ended.out, HasSubstr("Then.comes_another cannot use a GPU in this process: " + who +
                                     " left it with CUDA_ERROR_ILLEGAL_ADDRESS (700). Run it by itself"));
    EXPECT_THAT(ended.out, Not(HasSubstr("@never")));
  }
};

TEST_F(StickyError, fails_what_left_it_and_skips_the_tests_after_it) {
  expect_no_test_to_run_after("Plain.breaks_cuda", "Plain.breaks_cuda");
  expect_no_test_to_run_after("Scoped.breaks_cuda", "Scoped.breaks_cuda");
  expect_no_test_to_run_after("Shared.breaks_cuda", "Shared.*");
  expect_no_test_to_run_after("AtItsEnd", "AtItsEnd.*");
  expect_no_test_to_run_after("InSetUp::SetUpTestSuite()", "InSetUp.*");
  expect_no_test_to_run_after("InTearDown::TearDownTestSuite()", "InTearDown.*");
}

TEST_F(StickyError, is_found_in_a_process_under_a_lease_of_another) {
  auto holder = start("sticky", {"--gtest_filter=Holding.*"});
  holder.wait_for_out("@body");
  set("GPUTEST_LEASE_OF", ledger::credential_of(entries().at(0)));
  set("CUDA_VISIBLE_DEVICES", "GPU-fake-0");
  expect_no_test_to_run_after("Plain.breaks_cuda", "Plain.*");
  expect_no_test_to_run_after("InTearDown::TearDownTestSuite()", "InTearDown.*");
  EXPECT_EQ(holder.finish().exit_code, 0);
}

} // namespace
} // namespace gputest::tests
