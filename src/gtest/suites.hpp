#pragma once

#include <gputest/memory_class.hpp>

#include <gtest/gtest.h>

#include <optional>

namespace gputest::detail {

/// What a suite's fixture is. GoogleTest does not tell before it builds one, but all tests of a suite have the same.
struct SuiteFixture {
  std::optional<MemoryClass> memory_class; ///< of SmallTest, MediumTest, LargeTest
  bool scoped = false;                     ///< of ScopedTest
};

/// What is known of the fixture of a test's suite; where the suite has a SetUpTestSuite() of its own, nothing before
/// the first test of it was built.
[[nodiscard]] SuiteFixture fixture_of(const ::testing::TestInfo& test);

/// Remembers what the fixture of the running suite is.
void remember_fixture(const SuiteFixture& fixture);

} // namespace gputest::detail
