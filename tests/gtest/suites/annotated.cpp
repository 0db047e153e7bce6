// SPDX-License-Identifier: BSD-3-Clause
// Tests whose memory GPUTEST_NEEDS says, of every kind of test that GoogleTest knows.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

using namespace gputest::literals;

class Medium : public gputest::MediumTest {};
TEST_F(Medium, says_nothing) { stop_at("body"); }
TEST_F(Medium, with_bytes) { stop_at("body"); }
GPUTEST_NEEDS(Medium, with_bytes, 3_GiB);
GPUTEST_NEEDS(Medium, with_bytes_and_a_heap, heap(256_MiB), 1_GiB);
TEST_F(Medium, with_bytes_and_a_heap) { stop_at("body"); }
TEST_F(Medium, with_a_class) { stop_at("body"); }
GPUTEST_NEEDS(Medium, with_a_class, gputest::MemoryClass::small);
TEST_F(Medium, with_too_many_bytes) { stop_at("body"); }
GPUTEST_NEEDS(Medium, with_too_many_bytes, 100_GiB);

class Small : public gputest::SmallTest {};
TEST_F(Small, says_nothing) { stop_at("body"); }
GPUTEST_NEEDS(Small, with_a_heap, heap(256_MiB));
TEST_F(Small, with_a_heap) { stop_at("body"); }

class Scoped : public gputest::ScopedTest {};
GPUTEST_NEEDS(Scoped, with_a_heap, heap(256_MiB));
TEST_F(Scoped, with_a_heap) {
  GPUTEST_LEASE(gpu, 1_GiB);
  stop_at("body");
}

class Large : public gputest::LargeTest {};
TEST_F(Large, with_bytes) { stop_at("body"); }
GPUTEST_NEEDS(Large, with_bytes, 1536_MiB);

TEST(NoFixture, says_nothing) {}
TEST(NoFixture, with_bytes) {}
GPUTEST_NEEDS(NoFixture, with_bytes, 1_GiB);

#define MACRO_OF_SUITE NamedByMacros
#define MAYBE_with_bytes with_bytes
#define MAYBE_runs DISABLED_runs
TEST(MACRO_OF_SUITE, MAYBE_with_bytes) {}
GPUTEST_NEEDS(MACRO_OF_SUITE, MAYBE_with_bytes, 1_GiB);
TEST(MACRO_OF_SUITE, of_the_suite) {}
GPUTEST_SUITE_NEEDS(MACRO_OF_SUITE, 2_GiB);
TEST(MACRO_OF_SUITE, MAYBE_runs) {}
GPUTEST_NEEDS(MACRO_OF_SUITE, MAYBE_runs, 1_GiB);

class Parameterised : public gputest::SmallTest, public testing::WithParamInterface<int> {};
TEST_P(Parameterised, with_bytes) {}
TEST_P(Parameterised, says_nothing) {}
INSTANTIATE_TEST_SUITE_P(Some, Parameterised, testing::Values(1, 2));
// Names that an annotation of another test could be taken for.
INSTANTIATE_TEST_SUITE_P(NoFixture, Parameterised, testing::Values(3), [](const auto&) { return "with_bytes"; });
GPUTEST_NEEDS(Parameterised, with_bytes, 1_GiB);

template <class T>
class Typed : public gputest::MediumTest {};
TYPED_TEST_SUITE(Typed, testing::Types<int>);
TYPED_TEST(Typed, with_bytes) {}
GPUTEST_NEEDS(Typed, with_bytes, 2_GiB);

template <class T>
class TypeParameterised : public gputest::MediumTest {};
TYPED_TEST_SUITE_P(TypeParameterised);
TYPED_TEST_P(TypeParameterised, with_bytes) {}
REGISTER_TYPED_TEST_SUITE_P(TypeParameterised, with_bytes);
using OneType = testing::Types<int>;
INSTANTIATE_TYPED_TEST_SUITE_P(Some, TypeParameterised, OneType);
GPUTEST_NEEDS(TypeParameterised, with_bytes, 3_GiB);

} // namespace
