#pragma once

#include <gputest/lease.hpp>

#include <gtest/gtest.h>

namespace gputest {

/// A test that holds no GPU memory by itself: it leases with GPUTEST_LEASE around its GPU section only.
///
/// GPUTEST_MEMORY on such a test states the most it will ever lease at once; without it, that is half of the device.
class ScopedTest : public ::testing::Test {
public:
  /// Tells that the tests of this suite lease for themselves; one of one's own does best to call it.
  static void SetUpTestSuite();

protected:
  ScopedTest();
};

} // namespace gputest

/// Leases memory until the end of the enclosing scope: `GPUTEST_LEASE(gpu, 3_GiB);`. Blocks as gputest::lease() does.
///
/// Declares a gputest::Lease of that name. If the memory cannot be had, skips or fails the test with the reason, as
/// GTEST_SKIP() and FAIL() do, by returning from the enclosing void function.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it must declare a name and return from its caller.
#define GPUTEST_LEASE(name, ...)                                                                                       \
  ::gputest::Lease name =                                                                                              \
      ::gputest::lease(::gputest::Requirement{__VA_ARGS__}); /* NOLINT(bugprone-macro-parentheses) */                  \
  if (!(name) && (name).must_fail())                                                                                   \
    FAIL() << (name).reason();                                                                                         \
  if (!(name))                                                                                                         \
  GTEST_SKIP() << (name).reason()
