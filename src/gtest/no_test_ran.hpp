// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace gputest::detail {

/// Why GoogleTest has run no test of this executable.
struct NothingSelected {
  std::string why;              ///< in words
  bool in_other_shards = false; ///< the filter selects tests, which are those of other shards
};
[[nodiscard]] NothingSelected why_no_test_was_selected(const ::testing::UnitTest& unit_test);

} // namespace gputest::detail
