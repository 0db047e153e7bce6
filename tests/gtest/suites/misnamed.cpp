// SPDX-License-Identifier: BSD-3-Clause
// Annotations that name no test.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace {

class Small : public gputest::SmallTest {};
TEST_F(Small, first) { std::cout << "@body" << std::endl; }
TEST(NoFixture, second) { std::cout << "@body" << std::endl; }
GPUTEST_NEEDS(Small, frist, 1_GiB);
GPUTEST_NEEDS(NoFixture, scond, sm(80));
GPUTEST_SUITE_NEEDS(Smal, heap(64_MiB));
TEST(Other, third) { std::cout << "@body" << std::endl; }
TEST(Other, DISABLED_fourth) {} // which is no part of a run of all tests

} // namespace
