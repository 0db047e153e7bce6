// SPDX-License-Identifier: BSD-3-Clause
// A suite that stops at its end, and suites after it of which each asks the ledger in another place.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace {

using namespace gputest::literals;

class First : public testing::Test {
protected:
  static void TearDownTestSuite() { stop_at("TearDownTestSuite"); }
};
TEST_F(First, passes) {}

class OneLease : public testing::Test {
protected:
  static void SetUpTestSuite() { std::cout << "@never" << std::endl; }
};
GPUTEST_SUITE_NEEDS(OneLease, 512_MiB, suite_lease);
TEST_F(OneLease, for_all_tests) { std::cout << "@never" << std::endl; }

class Requiring : public testing::Test {
protected:
  static void SetUpTestSuite() { std::cout << "@never" << std::endl; }
};
GPUTEST_SUITE_NEEDS(Requiring, free_memory(1_GiB));
TEST_F(Requiring, free_memory) { std::cout << "@never" << std::endl; }

class RequiringScoped : public gputest::ScopedTest {};
GPUTEST_SUITE_NEEDS(RequiringScoped, free_memory(1_GiB));
TEST_F(RequiringScoped, free_memory) { std::cout << "@never" << std::endl; }

class Plain : public gputest::SmallTest {};
TEST_F(Plain, leases) { std::cout << "@never" << std::endl; }

} // namespace
