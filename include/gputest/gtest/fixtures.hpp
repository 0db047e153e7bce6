// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/lease.hpp>
#include <gputest/memory_class.hpp>
#include <gputest/request.hpp>

#include <gtest/gtest.h>

namespace gputest {

/// Base of the fixtures: makes sure that the test holds its class's memory before a derived fixture is constructed.
///
/// Fails the test if gputest's listener is not installed, since the test would then run unprotected. Allocate in
/// SetUp(), not in a derived constructor: a skipped test runs its constructors, but not SetUp(). A derived fixture may
/// have a SetUpTestSuite() or a TearDownTestSuite() of its own. If it has both, its class is known only when its first
/// test is constructed; GPUTEST_SUITE_NEEDS makes it known earlier. Rename an old SetUpTestCase(): GoogleTest does not
/// accept it beside the function here.
class ClassTest : public ::testing::Test {
protected:
  explicit ClassTest(MemoryClass memory_class);
};

/// Needs at most 256 MiB of one device: runs in parallel.
class SmallTest : public ClassTest {
public:
  // GoogleTest stores the addresses of these two with each suite, so gputest knows the class before any test runs.
  static void SetUpTestSuite();
  static void TearDownTestSuite();

protected:
  SmallTest() : ClassTest{MemoryClass::small} {}
};

/// Needs at most half of one device: one such test at a time, or as many as fit if GPUTEST_NEEDS says the bytes.
class MediumTest : public ClassTest {
public:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

protected:
  MediumTest() : ClassTest{MemoryClass::medium} {}
};

/// Needs a whole device: skipped, with the reason, while ctest runs tests in parallel.
class LargeTest : public ClassTest {
public:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

protected:
  LargeTest() : ClassTest{MemoryClass::large} {}
};

/// A test that holds no GPU memory by itself: it leases with GPUTEST_LEASE around its GPU section only.
///
/// GPUTEST_NEEDS on such a test declares the most that it leases at once; by default that is half of the device.
class ScopedTest : public ::testing::Test {
public:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

protected:
  ScopedTest();
};

/// A test that uses no GPU: it takes no lease, never waits, and runs on a machine without a GPU too.
///
/// The word no_gpu says the same of tests with another fixture. A derived fixture that has both a SetUpTestSuite() and
/// a TearDownTestSuite() of its own needs it: `GPUTEST_SUITE_NEEDS(Suite, no_gpu);`.
class HostTest : public ::testing::Test {
public:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

protected:
  HostTest();
};

/// Leases memory for a section of the running test (see ScopedTest). Call it in the test's body, from any thread.
///
/// Blocks as Session::lease() does. A lease that outlives its test is given back when the test ends. Throws NestedLease
/// if this process holds a lease already, Error outside of a test that gputest runs.
[[nodiscard]] Lease lease(const Request& request);

} // namespace gputest

/// Leases memory until the end of the enclosing scope: `GPUTEST_LEASE(gpu, 3_GiB);`. Blocks as gputest::lease() does.
///
/// Declares a gputest::Lease of that name. If the memory is not granted, skips or fails the test with the reason, as
/// GTEST_SKIP() and FAIL() do, by returning from the enclosing void function.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it must declare a name and return from its caller.
#define GPUTEST_LEASE(name, ...)                                                                                       \
  ::gputest::Lease name = ::gputest::lease(::gputest::Request{__VA_ARGS__}); /* NOLINT(bugprone-macro-parentheses) */  \
  if (!(name) && (name).must_fail())                                                                                   \
    GTEST_FAIL() << (name).reason();                                                                                   \
  if (!(name))                                                                                                         \
  GTEST_SKIP() << (name).reason()
