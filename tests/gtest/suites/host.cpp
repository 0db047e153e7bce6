// SPDX-License-Identifier: BSD-3-Clause
// Tests that use no GPU, and suites whose SetUpTestSuite() must not run where none of their tests can.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <memory>

namespace {

using namespace gputest::literals;

class Host : public gputest::HostTest {};
TEST_F(Host, runs) { stop_at("body"); }
TEST_F(Host, leases) {
  try {
    static_cast<void>(gputest::lease(1_GiB));
    ADD_FAILURE() << "it uses no GPU";
  } catch (const gputest::Error& error) {
    EXPECT_STREQ(error.what(),
                 "Host.leases asks for a lease of 1 GiB, and says that it uses no GPU (no_gpu, HostTest, MEMORY none)");
  }
}

GPUTEST_NEEDS(NoFixture, runs, no_gpu);
TEST(NoFixture, runs) { stop_at("body"); }
TEST(NoFixture, uses_a_gpu) { stop_at("body"); }

class Said : public gputest::LargeTest {};
GPUTEST_SUITE_NEEDS(Said, no_gpu);
TEST_F(Said, runs) { stop_at("body"); }
GPUTEST_NEEDS(Said, uses_a_gpu, small);
TEST_F(Said, uses_a_gpu) { stop_at("body"); }

class HostWithSetUp : public gputest::HostTest {
public:
  static void SetUpTestSuite() { std::cout << "@SetUpTestSuite" << std::endl; }
};
TEST_F(HostWithSetUp, runs) { stop_at("body"); }

class HidingBoth : public gputest::HostTest {
public:
  static void SetUpTestSuite() {}
  static void TearDownTestSuite() {}
};
TEST_F(HidingBoth, is_not_known) { std::cout << "@never" << std::endl; }

class HidingBothAndSaid : public HidingBoth {};
GPUTEST_SUITE_NEEDS(HidingBothAndSaid, no_gpu);
TEST_F(HidingBothAndSaid, runs) { stop_at("body"); }

// Contradictions.
class HostWithSize : public gputest::HostTest {};
GPUTEST_NEEDS(HostWithSize, needs_memory, 3_GiB);
TEST_F(HostWithSize, needs_memory) { std::cout << "@never" << std::endl; }

class HostWithSizeOfSuite : public gputest::HostTest {};
GPUTEST_SUITE_NEEDS(HostWithSizeOfSuite, 3_GiB);
TEST_F(HostWithSizeOfSuite, needs_memory) { std::cout << "@never" << std::endl; }

GPUTEST_SUITE_NEEDS(Shared, 1_GiB, suite_lease);
GPUTEST_NEEDS(Shared, uses_no_gpu, no_gpu);
TEST(Shared, uses_no_gpu) { std::cout << "@never" << std::endl; }
TEST(Shared, uses_a_gpu) { stop_at("body"); }

/// Would allocate for its tests.
template <class Fixture>
class WithSetUp : public Fixture {
public:
  static void SetUpTestSuite() { std::cout << "@SetUpTestSuite" << std::endl; }
  static void TearDownTestSuite() { std::cout << "@TearDownTestSuite" << std::endl; }
};
class Plain : public WithSetUp<testing::Test> {};
TEST_F(Plain, uses_a_gpu) { stop_at("body"); }
GPUTEST_NEEDS(Plain, needs_too_much, 100_GiB);
TEST_F(Plain, needs_too_much) { std::cout << "@never" << std::endl; }
class Mixed : public WithSetUp<testing::Test> {};
TEST_F(Mixed, uses_a_gpu) { stop_at("body"); }
GPUTEST_NEEDS(Mixed, runs, no_gpu);
TEST_F(Mixed, runs) { stop_at("body"); }
/// Its SetUpTestSuite() uses a GPU, also for the test that says it uses none.
class MixedUp : public testing::Test {
public:
  static void SetUpTestSuite() { data_ = std::make_unique<gputest::SimulatedBuffer>(1_GiB); }
  static void TearDownTestSuite() { data_.reset(); }

private:
  static std::unique_ptr<gputest::SimulatedBuffer> data_;
};
std::unique_ptr<gputest::SimulatedBuffer> MixedUp::data_;
TEST_F(MixedUp, uses_a_gpu) {}
GPUTEST_NEEDS(MixedUp, uses_none, no_gpu);
TEST_F(MixedUp, uses_none) {}
GPUTEST_NEEDS(MixedUp, uses_none_either, no_gpu);
TEST_F(MixedUp, uses_none_either) {}
class Scoped : public WithSetUp<gputest::ScopedTest> {};
TEST_F(Scoped, uses_a_gpu) { stop_at("body"); }
class Large : public WithSetUp<gputest::LargeTest> {};
GPUTEST_SUITE_NEEDS(Large, large);
TEST_F(Large, uses_a_gpu) { stop_at("body"); }

} // namespace
