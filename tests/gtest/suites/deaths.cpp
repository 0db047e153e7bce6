// SPDX-License-Identifier: BSD-3-Clause
// Death tests in fixtures that hold memory.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace {

using namespace gputest::literals;

void die_in_two_ways() {
  EXPECT_EXIT(std::exit(3), testing::ExitedWithCode(3), ""); // runs static destructors
  EXPECT_DEATH(std::abort(), "");
}

class Small : public gputest::SmallTest {};
TEST_F(Small, dies) {
  die_in_two_ways();
  stop_at("body");
}

class Medium : public gputest::MediumTest {};
TEST_F(Medium, dies) {
  die_in_two_ways();
  stop_at("body");
}

class Shared : public testing::Test {
protected:
  static void SetUpTestSuite() { data_ = std::make_unique<gputest::SimulatedBuffer>(1_GiB); }
  static void TearDownTestSuite() { data_.reset(); }
  static inline std::unique_ptr<gputest::SimulatedBuffer> data_;
};
GPUTEST_SUITE_NEEDS(Shared, suite_lease, 1_GiB);
TEST_F(Shared, dies) {
  die_in_two_ways();
  EXPECT_EXIT(std::exit(data_->size() == 1_GiB ? 3 : 4), testing::ExitedWithCode(3), "");
  stop_at("body");
}

class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, dies) {
  die_in_two_ways();
  { GPUTEST_LEASE(larger, 2_GiB); } // a child that is started again comes by here, while its parent holds less
  GPUTEST_LEASE(gpu, 1_GiB);
  die_in_two_ways();
  stop_at("body");
}

std::unique_ptr<gputest::SimulatedBuffer> kept; // freed by a static destructor

class Allocating : public gputest::MediumTest {};
TEST_F(Allocating, dies) {
  kept = std::make_unique<gputest::SimulatedBuffer>(2_GiB);
  die_in_two_ways();
  EXPECT_THROW(gputest::SimulatedBuffer{3_GiB}, gputest::OutOfMemory) << "a child gave back its parent's memory";
  kept.reset();
}

} // namespace
