// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <string>

namespace gputest::tests {
namespace {

constexpr std::uint64_t mebibyte = 1ULL << 20U;
constexpr std::uint64_t heap_of_64 = 66 * mebibyte; // and what it takes beside
constexpr std::uint64_t heap_of_256 = 258 * mebibyte;

/// Device heaps in whole suites, on one simulated device of 4 GiB whose contexts take nothing.
class DeviceHeap : public SuiteTest {
protected:
  /// The claim of a test's process while the test runs.
  [[nodiscard]] policy::Claim claim_in(const std::string& test) const {
    auto suite = start("annotated", {"--gtest_filter=" + test});
    suite.wait_for_out("@body");
    return claim_of(suite);
  }
};

TEST_F(DeviceHeap, counts_with_what_it_takes_beside_the_bytes) {
  const auto without = claim_in("Small.says_nothing");
  EXPECT_EQ(without.overhead_bytes, 0U);
  const auto with = claim_in("Medium.with_bytes_and_a_heap");
  EXPECT_EQ(with.overhead_bytes, heap_of_256);
  EXPECT_EQ(with.lease_bytes, 1024 * mebibyte);
  EXPECT_EQ(claim_in("Scoped.with_a_heap").overhead_bytes, heap_of_256);
}

TEST_F(DeviceHeap, of_the_entry_holds_for_tests_that_say_none) {
  set("GPUTEST_HEAP", "64MiB");
  EXPECT_EQ(claim_in("Small.says_nothing").overhead_bytes, heap_of_64);
  EXPECT_EQ(claim_in("Small.with_a_heap").overhead_bytes, heap_of_256);
}

} // namespace
} // namespace gputest::tests
