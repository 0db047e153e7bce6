// SPDX-License-Identifier: BSD-3-Clause
// Tests of every kind of fixture that say nothing themselves, so that what gputest counts on is what it knows.

#include "known_in_header.hpp"
#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

TEST(Plain, test) { stop_at("body"); }
TEST(InHeader, first) { stop_at("body"); }

class PlainWithSetUp : public testing::Test {
protected:
  static void SetUpTestSuite() {}
};
TEST_F(PlainWithSetUp, test) { stop_at("body"); }

class Small : public gputest::SmallTest {};
TEST_F(Small, test) { stop_at("body"); }
class Derived : public Small {};
TEST_F(Derived, test) { stop_at("body"); }

template <class T>
class Typed : public gputest::SmallTest {};
TYPED_TEST_SUITE(Typed, testing::Types<int>);
TYPED_TEST(Typed, test) { stop_at("body"); }

class HidingSetUp : public gputest::SmallTest {
protected:
  static void SetUpTestSuite() {}
};
TEST_F(HidingSetUp, test) { stop_at("body"); }

class HidingTearDown : public gputest::SmallTest {
protected:
  static void TearDownTestSuite() {}
};
TEST_F(HidingTearDown, test) { stop_at("body"); }

class HidingBoth : public gputest::SmallTest {
protected:
  static void SetUpTestSuite() {}
  static void TearDownTestSuite() {}
};
TEST_F(HidingBoth, test) { stop_at("body"); }

class HidingBothAndSaid : public HidingBoth {};
GPUTEST_SUITE_NEEDS(HidingBothAndSaid, small);
TEST_F(HidingBothAndSaid, test) { stop_at("body"); }

class SaidOfSuite : public testing::Test {};
GPUTEST_SUITE_NEEDS(SaidOfSuite, 1_GiB);
TEST_F(SaidOfSuite, one) { stop_at("body"); }
GPUTEST_NEEDS(SaidOfSuite, two, 2_GiB);
TEST_F(SaidOfSuite, two) { stop_at("body"); }

class Medium : public gputest::MediumTest {};
TEST_F(Medium, test) { stop_at("body"); }
class Large : public gputest::LargeTest {};
TEST_F(Large, test) { stop_at("body"); }
class Scoped : public gputest::ScopedTest {};
TEST_F(Scoped, test) { stop_at("body"); }

class Pair : public gputest::SmallTest {};
TEST_F(Pair, one) { stop_at("body"); }
GPUTEST_NEEDS(Pair, two, gpus(2));
TEST_F(Pair, two) { stop_at("body"); }

class Contradictory : public gputest::SmallTest {};
GPUTEST_NEEDS(Contradictory, test, small, 3_GiB);
TEST_F(Contradictory, test) { stop_at("body"); }

namespace one {
GPUTEST_NEEDS(SaidTwice, test, 1_GiB);
}
namespace another {
GPUTEST_NEEDS(SaidTwice, test, 2_GiB);
}
TEST(SaidTwice, test) { stop_at("body"); }

} // namespace
