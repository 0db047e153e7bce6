// SPDX-License-Identifier: BSD-3-Clause
// Tests that lease around a section only, and tests that try to where they must not.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#undef FAIL // GTEST_DONT_DEFINE_FAIL: GPUTEST_LEASE does without

#include <cstddef>
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

TEST_F(Section, does_without_its_lease) { EXPECT_FALSE(gputest::lease(100_GiB)); }

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
    GTEST_FAIL() << "a test that holds a lease got a second one";
  } catch (const gputest::NestedLease& error) {
    std::cout << error.what() << std::endl;
  }
  stop_at("body");
}

// Memory resources under a lease.

constexpr std::size_t gib = std::size_t{1} << 30U;

/// Says what a request came to.
template <class Resource>
void* ask(Resource resource, std::size_t bytes) {
  try {
    void* const pointer = resource.allocate(bytes);
    std::cout << "got it" << std::endl;
    return pointer;
  } catch (const gputest::LeaseExceeded& error) {
    std::cout << "LeaseExceeded: " << error.what() << std::endl;
  } catch (const gputest::Error& error) {
    std::cout << "Error: " << error.what() << std::endl;
  }
  return nullptr;
}

class Exact : public gputest::MediumTest {};
GPUTEST_NEEDS(Exact, stays_within_its_lease, 3_GiB);
TEST_F(Exact, stays_within_its_lease) {
  gputest::memory_resource resource;
  resource.deallocate(ask(resource, 3 * gib), 3 * gib);
}
GPUTEST_NEEDS(Exact, asks_for_more, 3_GiB);
class Medium : public gputest::MediumTest {};
TEST_F(Medium, has_half_of_the_device) {
  gputest::memory_resource resource;
  resource.deallocate(ask(resource, 2 * gib), 2 * gib);
  ask(resource, 2 * gib + 1);
}

class Large : public gputest::LargeTest {};
TEST_F(Large, has_the_whole_device) {
  gputest::memory_resource resource;
  resource.deallocate(ask(resource, 4 * gib), 4 * gib);
}

class Small : public gputest::SmallTest {};

class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, allocates_within_its_section_only) {
  gputest::memory_resource resource;
  ask(resource, 1);
  GPUTEST_LEASE(gpu, 1_GiB);
  resource.deallocate(ask(resource, gib), gib);
}

class BeforeTheTest : public gputest::SmallTest {
public:
  static void SetUpTestSuite() { ask(gputest::memory_resource{}, 1); }
};
TEST_F(BeforeTheTest, passes) {}

} // namespace
