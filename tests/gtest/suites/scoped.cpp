// SPDX-License-Identifier: BSD-3-Clause
// Tests that lease around a section only, and tests that try to where they must not.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <utility>

namespace {

using namespace gputest::literals;

class Section : public gputest::ScopedTest {};

TEST_F(Section, leases_a_part) {
  stop_at("host");
  {
    GPUTEST_LEASE(gpu, 3_GiB);
    stop_at("gpu");
  }
  stop_at("host again");
}
GPUTEST_NEEDS(Section, leases_a_part, 3_GiB);

TEST_F(Section, leases_too_much) {
  GPUTEST_LEASE(gpu, 100_GiB);
  std::cout << "@behind the lease" << std::endl;
}

gputest::Lease kept;

TEST_F(Section, keeps_a_lease_beyond_its_end) {
  kept = gputest::lease(3_GiB);
  EXPECT_TRUE(kept);
}
GPUTEST_NEEDS(Section, keeps_a_lease_beyond_its_end, 3_GiB);
TEST_F(Section, comes_after_it) { stop_at("host"); }

class NotScoped : public gputest::SmallTest {};

TEST_F(NotScoped, leases) {
  try {
    static_cast<void>(gputest::lease(1_GiB));
    FAIL() << "a test that holds a lease got a second one";
  } catch (const gputest::NestedLease& error) {
    std::cout << error.what() << std::endl;
  }
  stop_at("body");
}

} // namespace
