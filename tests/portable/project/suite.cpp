// SPDX-License-Identifier: BSD-3-Clause
// Tests of all kinds that gpu_discover_tests() names and labels.
#include <gputest/gputest.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
class Small : public gputest::SmallTest {};
TEST_F(Small, passes) {}
TEST_F(Small, runs) { EXPECT_EQ(std::getenv("FAILS"), nullptr); }
TEST_F(Small, DISABLED_off) {}
class Large : public gputest::LargeTest {};
TEST_F(Large, runs) {}
class Host : public gputest::HostTest {};
TEST_F(Host, runs) {}
TEST(Plain, sized) {}
GPUTEST_NEEDS(Plain, sized, 3_GiB, gpus(2), alone);
#ifdef MISNAMED
GPUTEST_NEEDS(Plain, seized, small);
#endif
TEST(Plain, skips) { GTEST_SKIP(); }
class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, leases) { GPUTEST_LEASE(gpu, gputest::Request{gputest::MemoryClass::small}); }
class P : public gputest::SmallTest, public ::testing::WithParamInterface<const char*> {};
TEST_P(P, value) {}
INSTANTIATE_TEST_SUITE_P(I, P, ::testing::Values("a;b", "[c"));
template <class T>
class Typed : public gputest::MediumTest {};
using Types = ::testing::Types<int, float>;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, t) {}
