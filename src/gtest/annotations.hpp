#pragma once

#include <gputest/requirement.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace gputest::detail {

/// What GPUTEST_MEMORY says of a test, if anything. Holds for every instance of a parameterised or typed test.
[[nodiscard]] std::optional<Requirement> annotation_of(const ::testing::TestInfo& test);

/// What all GPUTEST_REQUIRES of a test require together.
[[nodiscard]] Capabilities capabilities_of(const ::testing::TestInfo& test);

/// What GPUTEST_HEAP says of a test; 0 if nothing.
[[nodiscard]] Bytes heap_annotation_of(const ::testing::TestInfo& test);

/// The annotations that name no test of this executable, as they were written; empty if there are none.
[[nodiscard]] std::string annotations_of_nothing(const ::testing::UnitTest& unit_test);

} // namespace gputest::detail
