// Annotations that name no test.

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace {

class Small : public gputest::SmallTest {};
TEST_F(Small, first) { std::cout << "@body" << std::endl; }
TEST(NoFixture, second) { std::cout << "@body" << std::endl; }
GPUTEST_MEMORY(Small, frist, 1_GiB);
GPUTEST_REQUIRES(NoFixture, scond, sm(80));
GPUTEST_HEAP(Smal, first, 64_MiB);

} // namespace
