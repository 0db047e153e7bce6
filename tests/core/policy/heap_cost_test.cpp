// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/heap_cost.hpp"

#include <gtest/gtest.h>

namespace gputest::policy {
namespace {

using namespace gputest::literals;

TEST(HeapCost, is_what_was_measured) {
  EXPECT_EQ(heap_cost(64_MiB), 66_MiB); // H200, CUDA 13.0
  EXPECT_EQ(heap_cost(256_MiB), 258_MiB);
  EXPECT_EQ(heap_cost(1024_MiB), 1026_MiB);
  EXPECT_EQ(heap_cost(0_B), 0_B) << "no wish";
}

TEST(HeapCost, is_in_whole_mebibytes_and_never_below_the_heap) {
  EXPECT_EQ(heap_cost(1_B), 3_MiB);
  EXPECT_EQ(heap_cost(1_MiB), 3_MiB);
  EXPECT_EQ(heap_cost(1_MiB + 1_B), 4_MiB);
}

} // namespace
} // namespace gputest::policy
