// SPDX-License-Identifier: BSD-3-Clause
// Tests that take memory without a lease, or more than they have leased.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>

namespace {

using namespace gputest::literals;
using gputest::SimulatedBuffer;

/// Takes memory without a lease, in one of the places in which GoogleTest runs code of the user's.
template <class Fixture>
class Taking : public Fixture {
public:
  static void SetUpTestSuite() {
    stop_at("SetUpTestSuite");
    data_ = std::make_unique<SimulatedBuffer>(1536_MiB);
    stop_at("taken");
  }
  static void TearDownTestSuite() { data_.reset(); }

private:
  static inline std::unique_ptr<SimulatedBuffer> data_;
};

class Unleased : public Taking<testing::Test> {};
GPUTEST_SUITE_NEEDS(Unleased, 1536_MiB);
TEST_F(Unleased, first) { stop_at("body"); }
TEST_F(Unleased, second) { stop_at("body"); }

class TooLarge : public Taking<testing::Test> {};
GPUTEST_SUITE_NEEDS(TooLarge, 3_GiB);
TEST_F(TooLarge, first) { stop_at("never"); }

class Scoped : public gputest::ScopedTest {};
GPUTEST_SUITE_NEEDS(Scoped, 1536_MiB);
void take_and_lease() {
  const SimulatedBuffer data{1536_MiB};
  stop_at("taken");
  GPUTEST_LEASE(gpu, 1536_MiB);
  stop_at("body");
}
TEST_F(Scoped, first) { take_and_lease(); }
TEST_F(Scoped, second) { take_and_lease(); }

TEST(Plain, takes_what_it_leases) {
  const SimulatedBuffer data{256_MiB};
  stop_at("body");
}
TEST(Plain, takes_most) {
  const SimulatedBuffer data{3968_MiB};
  stop_at("body");
}
TEST(Plain, takes_half) { const SimulatedBuffer data{2_GiB}; }
TEST(Plain, takes_nearly_all) { const SimulatedBuffer data{3712_MiB}; }
TEST(Plain, takes_late) {
  stop_at("body");
  const SimulatedBuffer data{256_MiB};
}
GPUTEST_NEEDS(Plain, leaves_more, 512_MiB);
GPUTEST_NEEDS(Plain, leases_more, 1_GiB);
TEST(Plain, leases_more) { stop_at("body"); }
TEST(Plain, says_out_of_memory) { FAIL() << "CUDA_ERROR_OUT_OF_MEMORY"; }
TEST(Plain, says_nothing) {}
TEST(Plain, says_bad_alloc) { FAIL() << "std::bad_alloc"; }
TEST(Plain, says_the_error_of_cuda) { FAIL() << "cudaErrorMemoryAllocation"; }

} // namespace
