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

  /// Runs `first`, which leaves the error, and tests after it.
  void expect_no_test_to_run_after(const std::string& first, const std::vector<std::string>& later) const {
    std::string filter = "--gtest_filter=" + first;
    for (const auto& test : later) {
      filter += ":" + test;
    }
    const Ended ended = run("sticky", {filter});
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("[  FAILED  ] " + first));
    EXPECT_EQ(count(ended.out, first + " left CUDA unusable for the rest of this process: CUDA_ERROR_ILLEGAL_ADDRESS "
                                       "(700). The tests after it are skipped; run them without it"),
              1U)
        << ended.out;
    EXPECT_EQ(count(ended.out, "left CUDA unusable"), 1U) << "of one test only\n" << ended.out;
    EXPECT_THAT(ended.out, Not(HasSubstr("@never")));
    for (const auto& test : later) {
      EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] " + test));
      EXPECT_THAT(ended.out, HasSubstr(test + " cannot use a GPU in this process: " + first +
                                       " left it with CUDA_ERROR_ILLEGAL_ADDRESS (700). Run it by itself"));
    }
  }
};

TEST_F(StickyError, fails_the_test_that_left_it_and_skips_those_after_it) {
  expect_no_test_to_run_after("Plain.breaks_cuda", {"Then.comes_another"});
}

TEST_F(StickyError, under_a_lease_for_a_section_does_the_same) {
  expect_no_test_to_run_after("Scoped.breaks_cuda", {"Then.comes_another"});
}

TEST_F(StickyError, under_a_suite_lease_skips_the_other_tests_of_the_suite_too) {
  expect_no_test_to_run_after("Shared.breaks_cuda", {"Shared.comes_after", "Then.comes_another"});
}

TEST_F(StickyError, of_the_end_of_a_suite_with_a_lease_fails_the_suite_and_skips_the_tests_after_it) {
  const Ended ended = run("sticky", {"--gtest_filter=AtItsEnd.passes:Then.comes_another"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("[       OK ] AtItsEnd.passes"));
  EXPECT_EQ(
      count(ended.out, "AtItsEnd left CUDA unusable for the rest of this process: CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
      1U)
      << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Then.comes_another"));
  EXPECT_THAT(ended.out, Not(HasSubstr("@never")));
}

TEST_F(StickyError, of_the_set_up_of_a_suite_fails_it_and_skips_its_tests) {
  const Ended ended = run("sticky", {"--gtest_filter=InSetUp.comes_after:Then.comes_another"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_EQ(count(ended.out, "InSetUp::SetUpTestSuite() left CUDA unusable for the rest of this process: "
                             "CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
            1U)
      << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Then.comes_another"));
  EXPECT_THAT(ended.out, Not(HasSubstr("@never")));
}

TEST_F(StickyError, of_the_tear_down_of_a_suite_fails_it_and_skips_the_tests_after_it) {
  for (const std::string under : {"", "a lease of another"}) {
    const auto holder =
        under.empty() ? nullptr : std::make_unique<ChildProcess>(start("sticky", {"--gtest_filter=Holding.*"}));
    if (holder) {
      holder->wait_for_out("@body");
      set("GPUTEST_LEASE_OF", ledger::credential_of(entries().at(0)));
      set("CUDA_VISIBLE_DEVICES", "GPU-fake-0");
    }
    const Ended ended = run("sticky", {"--gtest_filter=InTearDown.passes:Then.comes_another"});
    EXPECT_EQ(ended.exit_code, 1) << under << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("[       OK ] InTearDown.passes"));
    EXPECT_EQ(count(ended.out, "InTearDown::TearDownTestSuite() left CUDA unusable for the rest of this process: "
                               "CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
              1U)
        << under << ended.out;
    EXPECT_THAT(ended.out, HasSubstr("[  SKIPPED ] Then.comes_another"));
    EXPECT_THAT(ended.out, Not(HasSubstr("@never")));
  }
}

TEST_F(StickyError, is_found_in_a_process_under_a_lease_of_another) {
  auto holder = start("sticky", {"--gtest_filter=Holding.*"});
  holder.wait_for_out("@body");
  set("GPUTEST_LEASE_OF", ledger::credential_of(entries().at(0)));
  set("CUDA_VISIBLE_DEVICES", "GPU-fake-0");
  expect_no_test_to_run_after("Plain.breaks_cuda", {});
  EXPECT_EQ(holder.finish().exit_code, 0);
}

} // namespace
} // namespace gputest::tests
