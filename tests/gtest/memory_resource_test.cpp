// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

#include <string>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Memory resources in whole suites, on one simulated device of 4 GiB.
class MemoryResource : public SuiteTest {
protected:
  [[nodiscard]] Ended run_one(const std::string& test) const { return run("resources", {"--gtest_filter=" + test}); }
  [[nodiscard]] Report report_of(const std::string& test) const { return reports_of("resources", test).at(test); }
};

TEST_F(MemoryResource, gives_a_test_its_whole_lease) {
  set("GPUTEST_LARGE", "wait");
  for (const std::string test : {"Exact.stays_within_its_lease", "Large.has_the_whole_device"}) {
    const Ended ended = run_one(test);
    EXPECT_EQ(ended.exit_code, 0) << ended.out;
    EXPECT_THAT(ended.out, HasSubstr("got it\n")) << test;
  }
  const Ended half = run_one("Medium.has_half_of_the_device");
  EXPECT_THAT(half.out, HasSubstr("got it\nLeaseExceeded: 2 GiB were asked of device 0, beyond the lease of "
                                  "Medium.has_half_of_the_device: it has leased 2 GiB there and holds 0 B"));
}

TEST_F(MemoryResource, gives_nothing_outside_of_a_lease) {
  const Ended scoped = run_one("Scoped.allocates_within_its_section_only");
  EXPECT_THAT(scoped.out, HasSubstr("LeaseExceeded: 1 B were asked of device 0 while this process has leased nothing"));
  EXPECT_THAT(scoped.out, HasSubstr("got it\n"));
  EXPECT_THAT(run_one("BeforeTheTest.passes").out, HasSubstr("while this process has leased nothing"));
}

TEST_F(MemoryResource, refuses_managed_memory_that_does_not_fit_on_the_device) {
  EXPECT_THAT(run_one("Managed.more_than_is_free").out,
              HasSubstr("Error: 3 GiB of managed memory were asked of device 0, which has 2 GiB free"));
}

} // namespace
} // namespace gputest::tests
