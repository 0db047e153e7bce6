// SPDX-License-Identifier: BSD-3-Clause
#include "policy/lease_limit.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
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
    EXPECT_NE(text.find("GPUTEST_NEEDS(Sort, Keys, " + row.advice + ")"), std::string::npos) << text;
  }
}

TEST(LeaseLimit, advises_an_annotation_with_the_names_that_stand_in_the_source) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"Sort.keys", "Sort, keys"},
      {"All/Sort.keys/3", "Sort, keys"},
      {"Sort/0.keys", "Sort, keys"},
      {"All/Sort/12.keys", "Sort, keys"},
      {"All/Sort/12.keys/int", "Sort, keys"},
      {"Graph", "<suite>, <test>"}, // a suite's own lease
      {"a Catch2 case. Or two", "<suite>, <test>"},
      {"entry: Sort.keys", "<suite>, <test>"},
  };
  for (const auto& [test, names] : rows) {
    EXPECT_EQ(allow_to_keep(test, 3_GiB, Named::test),
              "GPUTEST_NEEDS(" + names + ", keeps(3_GiB)) or KEEPS 3GiB in gpu_add_test() or gpu_discover_tests()")
        << test;
    EXPECT_EQ(declare(test, 3_GiB),
              "GPUTEST_NEEDS(" + names + ", 3_GiB) or MEMORY 3GiB in gpu_add_test() or gpu_discover_tests()")
        << test;
  }
}

} // namespace
} // namespace gputest::policy
