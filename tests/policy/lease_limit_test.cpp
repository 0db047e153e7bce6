// SPDX-License-Identifier: BSD-3-Clause
#include "policy/lease_limit.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputest::policy {
namespace {

using namespace gputest::literals;

TEST(LeaseLimit, advises_a_size_that_is_enough_and_no_mebibyte_more) {
  struct Row {
    Bytes asked;
    Bytes held;
    std::string advice;
  };
  const std::vector<Row> rows{
      {1_B, 0_B, "1_MiB"},      {1_MiB, 0_B, "1_MiB"},       {1_MiB, 1_B, "2_MiB"},       {1_GiB, 2_GiB, "3_GiB"},
      {1_GiB, 1_B, "1025_MiB"}, {512_MiB, 512_MiB, "1_GiB"}, {1536_MiB, 0_B, "1536_MiB"},
  };
  for (const auto& row : rows) {
    const auto text = beyond_lease({"Sort.Keys", 0, row.asked, row.held, 0_B, 1});
    EXPECT_NE(text.find("GPUTEST_NEEDS(<suite>, <test>, " + row.advice + ")"), std::string::npos) << text;
  }
}

} // namespace
} // namespace gputest::policy
