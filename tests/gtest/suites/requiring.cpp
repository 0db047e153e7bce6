// Tests whose devices must have something, by GPUTEST_REQUIRES.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

class Pools : public gputest::SmallTest {};
TEST_F(Pools, needed) { stop_at("body"); }
GPUTEST_REQUIRES(Pools, needed, memory_pools, sm(80), total_memory(1_GiB));
TEST_F(Pools, not_needed) { stop_at("body"); }

class Both : public gputest::MediumTest {};
TEST_F(Both, memory_and_capabilities) { stop_at("body"); }
GPUTEST_MEMORY(Both, memory_and_capabilities, 1_GiB);
GPUTEST_REQUIRES(Both, memory_and_capabilities, cooperative_launch);

class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, needs_a_slice) {
  stop_at("body");
  GPUTEST_LEASE(gpu, gputest::MemoryClass::small);
}
GPUTEST_REQUIRES(Scoped, needs_a_slice, mig);

class Parameterised : public gputest::SmallTest, public testing::WithParamInterface<int> {};
TEST_P(Parameterised, needs_tcc) { stop_at("body"); }
INSTANTIATE_TEST_SUITE_P(Some, Parameterised, testing::Values(1, 2));
GPUTEST_REQUIRES(Parameterised, needs_tcc, tcc);

} // namespace
