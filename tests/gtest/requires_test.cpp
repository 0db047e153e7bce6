// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What tests and their entry require of devices.
class Requires : public SuiteTest {
protected:
  void set_device(const std::string& options) { set("GPUTEST_DEVICES", "simulated:1x4GiB,context=0" + options); }
};

TEST_F(Requires, chooses_the_device_that_has_what_a_suite_needs) {
  set("GPUTEST_DEVICES", "all");
  set("LD_LIBRARY_PATH", GPUTEST_FAKE_DRIVER);
  set("FAKE_NVML", "gpus=2 long_uuids=1 sm=80,90");
  const Ended ended = run("requiring", {"--gtest_filter=OfSuite.*"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("@device GPU-00000000-0000-0000-0000-000000000001"));
}

TEST_F(Requires, skips_that_test_alone_where_the_device_lacks_it_with_what_was_asked_and_seen) {
  set_device(",no_memory_pools,sm_75");
  const auto reports = reports_of("requiring", "Pools.*");
  EXPECT_TRUE(reports.at("Pools.needed").skipped);
  EXPECT_FALSE(reports.at("Pools.not_needed").skipped);
  const Ended ended = run("requiring", {"--gtest_filter=Pools.needed"});
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_THAT(ended.out, HasSubstr("requiring: Pools.needed requires what its devices do not have: asked memory_pools, "
                                   "sm_80, total_memory of 1 GiB; SIM-1x4096MiB-"));
  EXPECT_THAT(ended.out, HasSubstr(" (simulated device) has no memory_pools, sm_75. Run it where there is such a "
                                   "device; 'gputest devices' shows what each has"));
  EXPECT_THAT(ended.out, Not(HasSubstr("@body")));
}

TEST_F(Requires, of_the_entry_holds_for_every_test_beside_what_the_test_says) {
  set("GPUTEST_REQUIRES", "wddm");
  const Ended ended = run("requiring", {"--gtest_filter=Pools.*"});
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_EQ(count(ended.out, "asked wddm; "), 2U) << ended.out;
  set_device(",wddm,no_memory_pools");
  EXPECT_THAT(run("requiring", {"--gtest_filter=Pools.*"}).out,
              HasSubstr("asked memory_pools, wddm, sm_80, total_memory of 1 GiB; "));
  set_device(",wddm");
  EXPECT_EQ(count(run("requiring", {"--gtest_filter=Pools.*"}).out, "@body"), 2U);
}

TEST_F(Requires, nothing_of_the_memory_that_a_smaller_device_lacks) {
  set("GPUTEST_DEVICE_MEMORY", "1GiB");
  const Ended ended = run("annotated", {"--gtest_filter=Medium.with_bytes:NoFixture.with_bytes"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_EQ(count(ended.err, "gputest: every decision is as on devices of at most 1 GiB (GPUTEST_DEVICE_MEMORY)"), 1U);
  EXPECT_THAT(ended.out,
              HasSubstr("annotated: Medium.with_bytes needs 3 GiB of a device, its context included, and "
                        "the largest that it may use has 1 GiB: waiting would not help. Ask for less, or run "
                        "it where there is more (GPUTEST_DEVICE_MEMORY limits it)"));
  EXPECT_THAT(ended.out, HasSubstr("[       OK ] NoFixture.with_bytes"));
}

} // namespace
} // namespace gputest::tests
