// SPDX-License-Identifier: BSD-3-Clause
// Tests whose devices must have something, by GPUTEST_NEEDS.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

class Pools : public gputest::SmallTest {};
TEST_F(Pools, needed) { stop_at("body"); }
GPUTEST_NEEDS(Pools, needed, memory_pools, sm(80), total_memory(1_GiB));
TEST_F(Pools, not_needed) { stop_at("body"); }

class OfSuite : public gputest::SmallTest {};
TEST_F(OfSuite, shows_its_device) { std::cout << "@device " << gputest::current_devices().at(0).uuid << std::endl; }
GPUTEST_SUITE_NEEDS(OfSuite, sm(90));

class Parameterised : public gputest::SmallTest, public testing::WithParamInterface<int> {};
TEST_P(Parameterised, needs_tcc) { stop_at("body"); }
INSTANTIATE_TEST_SUITE_P(Some, Parameterised, testing::Values(1, 2));
GPUTEST_NEEDS(Parameterised, needs_tcc, tcc);

} // namespace
