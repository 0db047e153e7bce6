// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <string>

namespace gputest::tests {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t mebibyte = 1ULL << 20U;
constexpr std::uint64_t heap_of_64 = 66 * mebibyte; // and what it takes beside
constexpr std::uint64_t heap_of_256 = 258 * mebibyte;

/// Device heaps in whole suites, on one simulated device of 4 GiB whose contexts take nothing.
class DeviceHeap : public SuiteTest {
protected:
  /// The claim of a test's process while the test runs.
  [[nodiscard]] policy::Claim claim_in(const std::string& test) const {
    auto suite = start("heaps", {"--gtest_filter=" + test});
    suite.wait_for_out("@body");
    return claim_of(suite);
  }
};

TEST_F(DeviceHeap, counts_with_what_it_takes_beside_the_bytes) {
  const auto without = claim_in("Small.says_nothing");
  EXPECT_EQ(without.overhead_bytes, 0U);
  const auto with = claim_in("Medium.with_bytes_and_256");
  EXPECT_EQ(with.overhead_bytes, heap_of_256);
  EXPECT_EQ(with.lease_bytes, 1024 * mebibyte);
  EXPECT_EQ(claim_in("Scoped.with_256").overhead_bytes, heap_of_256);
}

TEST_F(DeviceHeap, of_the_entry_holds_for_tests_that_say_none) {
  set("GPUTEST_HEAP", "64MiB");
  EXPECT_EQ(claim_in("Small.says_nothing").overhead_bytes, heap_of_64);
  EXPECT_EQ(claim_in("Small.with_256").overhead_bytes, heap_of_256);
}

TEST_F(DeviceHeap, stays_counted_when_its_test_is_over) {
  auto suite = start("heaps", {"--gtest_filter=Small.with_64:Medium.with_bytes_and_256"});
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).overhead_bytes, heap_of_256) << "of the largest that the process may set";
  EXPECT_EQ(suite.finish().exit_code, 1);
}

TEST_F(DeviceHeap, fails_the_test_that_asks_for_another_size_and_names_both) {
  const auto reports = reports_of("heaps", "Small.*");
  EXPECT_EQ(reports.at("Small.says_nothing").failures, "");
  EXPECT_EQ(reports.at("Small.with_64").failures, "");
  EXPECT_EQ(reports.at("Small.with_64_too").failures, "");
  EXPECT_THAT(
      reports.at("Small.with_256").failures,
      HasSubstr("heaps: Small.with_256 asks for a device heap of 256 MiB, and in this process heaps: Small.with_64 "
                "has set one of 64 MiB, which cannot change any more. Give them one size, or run each in an entry "
                "of its own: gpu_add_test(... COMMAND <executable> --gtest_filter=<tests> HEAP <size>)"));
}

} // namespace
} // namespace gputest::tests
