// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/memory_kind.hpp"

#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace gputest::policy {
namespace {

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
