// SPDX-License-Identifier: BSD-3-Clause
// Suites that share what SetUpTestSuite() allocates, under one lease.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>

namespace {

using namespace gputest::literals;

class Shared : public testing::Test {
protected:
  static void SetUpTestSuite() {
    stop_at("SetUpTestSuite");
    data_ = std::make_unique<gputest::SimulatedBuffer>(3_GiB);
  }
  static void TearDownTestSuite() {
    stop_at("TearDownTestSuite");
    data_.reset();
  }
  static inline std::unique_ptr<gputest::SimulatedBuffer> data_;
};
GPUTEST_SUITE_NEEDS(Shared, 3_GiB, suite_lease);

TEST_F(Shared, first) {
  stop_at("body");
  EXPECT_EQ(data_->size(), 3_GiB);
}
TEST_F(Shared, second) {
  stop_at("body");
  EXPECT_EQ(data_->size(), 3_GiB);
}
GPUTEST_NEEDS(Shared, asks_for_less, 1_GiB);
TEST_F(Shared, asks_for_less) { stop_at("body"); }
GPUTEST_NEEDS(Shared, asks_for_more, 4_GiB);
TEST_F(Shared, asks_for_more) { std::cout << "@never" << std::endl; }
GPUTEST_NEEDS(Shared, asks_for_a_heap, heap(64_MiB));
TEST_F(Shared, asks_for_a_heap) { std::cout << "@never" << std::endl; }
GPUTEST_NEEDS(Shared, needs_a_slice, mig);
TEST_F(Shared, needs_a_slice) { std::cout << "@never" << std::endl; }
TEST_F(Shared, leases_on_top) { EXPECT_THROW(static_cast<void>(gputest::lease(1_GiB)), gputest::NestedLease); }

class AsSmall : public testing::Test {};
GPUTEST_SUITE_NEEDS(AsSmall, 256_MiB, suite_lease);
GPUTEST_NEEDS(AsSmall, asks_for_small, gputest::MemoryClass::small);
TEST_F(AsSmall, asks_for_small) {}
GPUTEST_NEEDS(AsSmall, asks_for_medium, gputest::MemoryClass::medium);
TEST_F(AsSmall, asks_for_medium) { std::cout << "@never" << std::endl; }
GPUTEST_NEEDS(AsSmall, asks_for_two_devices, gpus(2));
TEST_F(AsSmall, asks_for_two_devices) { std::cout << "@never" << std::endl; }
GPUTEST_NEEDS(AsSmall, asks_for_all_of_it, 256_MiB);
TEST_F(AsSmall, asks_for_all_of_it) {}

class LessThanSmall : public testing::Test {};
GPUTEST_SUITE_NEEDS(LessThanSmall, 255_MiB, suite_lease);
GPUTEST_NEEDS(LessThanSmall, asks_for_small, gputest::MemoryClass::small);
TEST_F(LessThanSmall, asks_for_small) { std::cout << "@never" << std::endl; }

class After : public gputest::SmallTest {};
TEST_F(After, comes_another) { stop_at("body"); }

/// Must not run where the suite's lease cannot be had.
template <class Fixture>
class Never : public Fixture {
protected:
  static void SetUpTestSuite() { std::cout << "@never" << std::endl; }
  static void TearDownTestSuite() { std::cout << "@never" << std::endl; }
};

class TooMuch : public Never<testing::Test> {};
GPUTEST_SUITE_NEEDS(TooMuch, suite_lease, 100_GiB);
TEST_F(TooMuch, first) { std::cout << "@never" << std::endl; }
TEST_F(TooMuch, second) { std::cout << "@never" << std::endl; }

} // namespace
