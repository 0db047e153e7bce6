// SPDX-License-Identifier: BSD-3-Clause
#include "report/declarations.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace gputest::report {
namespace {

using namespace literals;

TEST(AdvisedBytes, are_a_twentieth_more_rounded_up_in_steps_that_grow_with_the_size) {
  const std::vector<std::pair<Bytes, Bytes>> rows{{0_B, 64_MiB},       {60_MiB, 64_MiB},  {64_MiB, 128_MiB},
                                                  {1_GiB, 1088_MiB},   {2_GiB, 2304_MiB}, {10_GiB, 10752_MiB},
                                                  {15_GiB, 16128_MiB}, {16_GiB, 17_GiB},  {22_GiB, 24_GiB}};
  for (const auto& [used, advised] : rows) {
    EXPECT_EQ(advised_bytes(used.count()), advised) << to_string(used);
  }
}

} // namespace
} // namespace gputest::report
