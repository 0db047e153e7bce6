// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/memory_request.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputest::policy {
namespace {

using namespace literals;

TEST(MemoryRequest, follows_the_bytes_and_else_the_class) {
  Request large_with_bytes{MemoryClass::large};
  large_with_bytes.bytes = 40_GiB;
  Request small_with_bytes{MemoryClass::small};
  small_with_bytes.bytes = 1_GiB;
  struct Case {
    Request request;
    Bytes bytes;
    bool medium_lock;
    bool exclusive;
  };
  const std::vector<Case> cases{
      {MemoryClass::small, 256_MiB, false, false}, {MemoryClass::medium, 40_GiB, true, false},
      {MemoryClass::large, 0_B, false, true},      {3_GiB, 3_GiB, false, false},
      {large_with_bytes, 40_GiB, false, false},    {small_with_bytes, 1_GiB, false, false},
  };
  for (const auto& c : cases) {
    const MemoryRequest request = to_memory_request(c.request, 80_GiB);
    EXPECT_EQ(request.bytes, c.bytes) << to_string(c.request);
    EXPECT_EQ(request.medium_lock, c.medium_lock) << to_string(c.request);
    EXPECT_EQ(request.exclusive, c.exclusive) << to_string(c.request);
  }
}

TEST(MemoryRequest, of_a_medium_test_is_half_of_the_device_rounded_down) {
  EXPECT_EQ(to_memory_request(MemoryClass::medium, Bytes{1001}).bytes, 500_B);
}

TEST(HeapCost, is_the_heap_in_whole_mebibytes_and_two_more) { // measured: H200, CUDA 13.0
  EXPECT_EQ(heap_cost(0_B), 0_B) << "no wish";
  EXPECT_EQ(heap_cost(1_B), 3_MiB);
  EXPECT_EQ(heap_cost(1_MiB + 1_B), 4_MiB);
  EXPECT_EQ(heap_cost(64_MiB), 66_MiB);
}

} // namespace
} // namespace gputest::policy
