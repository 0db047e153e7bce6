// SPDX-License-Identifier: BSD-3-Clause
// A test of each fixture, and one without, that stops wherever user code runs.

#include "stop_at.hpp"

#include <gputest/gputest.hpp>

#include <gtest/gtest.h>

namespace {

template <class Fixture>
class Stopping : public Fixture {
protected:
  Stopping() { stop_at("constructor"); }
  ~Stopping() override { stop_at("destructor"); }
  void SetUp() override { stop_at("SetUp"); }
  void TearDown() override { stop_at("TearDown"); }
};

class Small : public Stopping<gputest::SmallTest> {};
class Medium : public Stopping<gputest::MediumTest> {};
class Large : public Stopping<gputest::LargeTest> {};
class Scoped : public Stopping<gputest::ScopedTest> {};
class NoFixture : public Stopping<testing::Test> {};

// Their suites are known only when the first of their tests is built; the second one is the same again.
TEST_F(Small, first) { stop_at("body"); }
TEST_F(Small, second) { stop_at("body"); }
TEST_F(Medium, first) { stop_at("body"); }
TEST_F(Medium, second) { stop_at("body"); }
TEST_F(Large, first) { stop_at("body"); }
TEST_F(Large, second) { stop_at("body"); }
TEST_F(Scoped, first) { stop_at("body"); }
TEST_F(Scoped, second) { stop_at("body"); }
TEST_F(NoFixture, first) { stop_at("body"); }

} // namespace
