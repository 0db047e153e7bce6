// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace gputest::detail {

/// Why GoogleTest has selected no test of this executable, in words; empty if other shards may have selected one.
[[nodiscard]] std::string why_no_test_was_selected(const ::testing::UnitTest& unit_test);

} // namespace gputest::detail
