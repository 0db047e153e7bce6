// An annotation that names no test.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace {

class Small : public gputest::SmallTest {};
TEST_F(Small, first) { std::cout << "@body" << std::endl; }
TEST(NoFixture, second) { std::cout << "@body" << std::endl; }
GPUTEST_MEMORY(Small, frist, 1_GiB);

} // namespace
