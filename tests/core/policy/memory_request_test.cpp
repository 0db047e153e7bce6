// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/memory_request.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <optional>
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

TEST(MemoryKind, is_chosen_by_the_test_then_by_the_setting_then_by_the_device) {
  constexpr auto pool = MemoryKind::pool;
  constexpr auto malloc = MemoryKind::malloc;
  struct Row {
    std::optional<MemoryKind> of_test;
    std::optional<MemoryKind> of_setting;
    bool has_pools;
    MemoryKind kind;
    const char* because;
  };
  const std::vector<Row> rows{
      {std::nullopt, std::nullopt, true, pool, "device 1 has memory pools"},
      {std::nullopt, std::nullopt, false, malloc, "device 1 has no memory pools"},
      {std::nullopt, malloc, true, malloc, "GPUTEST_MEMORY_RESOURCE=malloc demands it"},
      {std::nullopt, malloc, false, malloc, "GPUTEST_MEMORY_RESOURCE=malloc demands it"},
      {std::nullopt, pool, true, pool, "GPUTEST_MEMORY_RESOURCE=pool demands it"},
      {malloc, pool, true, malloc, "the test demands it"},
      {malloc, pool, false, malloc, "the test demands it"},
      {pool, malloc, true, pool, "the test demands it"},
  };
  for (const auto& row : rows) {
    const auto choice = choose_memory_kind(row.of_test, row.of_setting, row.has_pools, 1);
    EXPECT_EQ(choice.kind, row.kind) << row.because;
    EXPECT_EQ(choice.because, row.because);
  }
}

TEST(MemoryKind, cannot_be_a_pool_where_there_are_none) {
  const auto refusal = [](std::optional<MemoryKind> of_test, std::optional<MemoryKind> of_setting) {
    return tests::message_of<InvalidSetting>(
        [&] { static_cast<void>(choose_memory_kind(of_test, of_setting, false, 0)); });
  };
  EXPECT_EQ(
      refusal(MemoryKind::pool, std::nullopt),
      "a memory_resource of kind pool was asked for (the test demands it), and device 0 has no memory pools "
      "(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED is 0); ask for malloc, or leave the choice to gputest with auto");
  EXPECT_EQ(
      refusal(std::nullopt, MemoryKind::pool),
      "a memory_resource of kind pool was asked for (GPUTEST_MEMORY_RESOURCE=pool demands it), and device 0 has no "
      "memory pools (CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED is 0); ask for malloc, or leave the choice to "
      "gputest with auto");
  EXPECT_EQ(refusal(MemoryKind::managed, std::nullopt),
            "a memory_resource of kind managed was asked for; write gputest::managed_memory_resource");
}

} // namespace

} // namespace gputest::policy
