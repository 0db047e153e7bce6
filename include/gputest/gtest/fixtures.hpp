#pragma once

#include <gputest/memory_class.hpp>

#include <gtest/gtest.h>

namespace gputest {

/// Base of the fixtures: makes sure that the test holds its class's memory before anything derived from it is built.
///
/// Fails the test if gputest's listener is not installed, since the test would then run unprotected. Allocate in
/// SetUp(), not in a derived constructor: a skipped test runs its constructors, but not SetUp(). A derived fixture may
/// have a SetUpTestSuite() of its own; one under its old name, SetUpTestCase(), GoogleTest refuses beside the one here.
class ClassTest : public ::testing::Test {
protected:
  explicit ClassTest(MemoryClass memory_class);

  /// Tells the class of the running suite's fixture before the first of its tests is built.
  static void announce(MemoryClass memory_class);
};

/// Needs at most 256 MiB of one device: runs in parallel.
class SmallTest : public ClassTest {
public:
  static void SetUpTestSuite() { announce(MemoryClass::small); }

protected:
  SmallTest() : ClassTest{MemoryClass::small} {}
};

/// Needs at most half of one device: one such test at a time, or as many as fit where GPUTEST_MEMORY says the bytes.
class MediumTest : public ClassTest {
public:
  static void SetUpTestSuite() { announce(MemoryClass::medium); }

protected:
  MediumTest() : ClassTest{MemoryClass::medium} {}
};

/// Needs a whole device: excluded, visibly, while ctest runs tests in parallel.
class LargeTest : public ClassTest {
public:
  static void SetUpTestSuite() { announce(MemoryClass::large); }

protected:
  LargeTest() : ClassTest{MemoryClass::large} {}
};

} // namespace gputest
