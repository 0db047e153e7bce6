// SPDX-License-Identifier: BSD-3-Clause
#include "support/suite_test.hpp"

#include <gputest/bytes.hpp>

#include <gmock/gmock.h>

namespace gputest::tests {
namespace {

using namespace literals;
using policy::Stage;
using testing::HasSubstr;
using testing::Not;

class Leases : public SuiteTest {};

TEST_F(Leases, last_for_their_scope_only) {
  auto suite = start("leases", {"--gtest_filter=Section.leases_a_part"});
  suite.wait_for_out("@host");
  EXPECT_EQ(claim_of(suite).stage, Stage::inside);
  suite.say("go on");
  suite.wait_for_out("@gpu");
  EXPECT_EQ(claim_of(suite).stage, Stage::holding);
  EXPECT_EQ(claim_of(suite).lease_bytes, (3_GiB).count());
  suite.say("go on");
  suite.wait_for_out("@host again");
  EXPECT_EQ(claim_of(suite).stage, Stage::inside);
  EXPECT_EQ(suite.finish().exit_code, 0);
}

TEST_F(Leases, that_cannot_be_had_skip_the_test_from_there_on) {
  const Ended ended = run("leases", {"--gtest_filter=Section.leases_too_much"});
  EXPECT_EQ(ended.exit_code, 77);
  EXPECT_THAT(ended.out, HasSubstr("leases: Section.leases_too_much needs 100 GiB of a device"));
  EXPECT_THAT(ended.out, Not(HasSubstr("@behind the lease")));
}

TEST_F(Leases, that_cannot_be_had_skip_an_entry_whose_other_tests_pass) {
  const std::string passes = "Exact.stays_within_its_lease:Section.does_without_its_lease";
  set("GPUTEST_ENTRY", "ctest");
  EXPECT_EQ(run("leases", {"--gtest_filter=" + passes}).exit_code, 0) << "no test is skipped";
  const Ended ended = run("leases", {"--gtest_filter=Section.leases_too_much:" + passes});
  EXPECT_EQ(ended.exit_code, 77) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("gputest: 1 of 3 tests skipped by gputest, so the entry is skipped"));
}

TEST_F(Leases, that_cannot_be_had_leave_the_reason_to_who_watches_where_the_output_is_judged) {
  set("GPUTEST_ENTRY", "by_output");
  const Ended ended = run("leases", {"--gtest_filter=Section.leases_too_much"});
  EXPECT_EQ(ended.exit_code, 77) << ended.out;
  EXPECT_THAT(ended.out, Not(HasSubstr("needs 100 GiB")));
  EXPECT_THAT(ended.err, HasSubstr("gputest: skipped: leases: Section.leases_too_much needs 100 GiB"));
}

TEST_F(Leases, that_outlive_their_test_are_given_back_when_it_ends) {
  auto suite = start("leases", {"--gtest_filter=Section.keeps_a_lease_beyond_its_end:Section.comes_after_it"});
  suite.wait_for_out("@host");
  EXPECT_EQ(claim_of(suite).stage, Stage::inside);
  const Ended ended = suite.finish(); // and the lease ends without a test
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
}

TEST_F(Leases, point_a_test_that_holds_one_already_to_the_scoped_fixture) {
  auto suite = start("leases", {"--gtest_filter=NotScoped.leases"});
  suite.wait_for_out("@body");
  EXPECT_EQ(claim_of(suite).lease_bytes, (256_MiB).count()) << "what the test holds stays";
  const Ended ended = suite.finish();
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr(" or, to lease only around the GPU sections of a test, derive its fixture from "
                                   "gputest::ScopedTest"));
}

/// Memory resources in whole suites, on one simulated device of 4 GiB.
class MemoryResource : public SuiteTest {
protected:
  [[nodiscard]] Ended run_one(const std::string& test) const { return run("leases", {"--gtest_filter=" + test}); }
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

} // namespace
} // namespace gputest::tests
