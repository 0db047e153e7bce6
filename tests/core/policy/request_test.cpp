// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/request.hpp>

#include "core/policy/make_request.hpp"
#include "core/policy/request.hpp"
#include "support/message_of.hpp"

#include <gputest/error.hpp>
#include <gputest/memory_class.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {

namespace {

using namespace literals;

TEST(MemoryRequest, follows_the_bytes_and_else_the_class) {
  Request large_with_bytes{MemoryClass::large};
  large_with_bytes.bytes = 40_GiB;
  Request small_with_bytes{MemoryClass::small};
  small_with_bytes.bytes = 1_GiB;
  const auto alone = [](Request request) {
    request.alone = true;
    return request;
  };
  struct Case {
    Request request;
    Bytes bytes;
    bool medium_lock;
    bool exclusive;
  };
  const std::vector<Case> cases{
      {MemoryClass::small, 256_MiB, false, false},
      {MemoryClass::medium, 40_GiB, true, false},
      {MemoryClass::large, 0_B, false, true},
      {3_GiB, 3_GiB, false, false},
      {large_with_bytes, 40_GiB, false, false},
      {small_with_bytes, 1_GiB, false, false},
      {alone(MemoryClass::small), 256_MiB, false, true},
      {alone(MemoryClass::medium), 40_GiB, false, true},
      {alone(3_GiB), 3_GiB, false, true},
      {alone(large_with_bytes), 40_GiB, false, true},
  };
  for (const auto& c : cases) {
    const MemoryRequest request = to_memory_request(c.request, 80_GiB);
    EXPECT_EQ(request.bytes, c.bytes) << to_string(c.request);
    EXPECT_EQ(request.medium_lock, c.medium_lock) << to_string(c.request);
    EXPECT_EQ(request.exclusive, c.exclusive) << to_string(c.request);
  }
}

TEST(Estimate, is_what_is_needed_on_a_grid_of_sixteen_sizes_for_each_doubling) {
  EXPECT_EQ(estimate_for(1_B), 2_MiB);
  EXPECT_EQ(estimate_for(257_MiB), 272_MiB);
  EXPECT_EQ(estimate_for(272_MiB), 272_MiB);
  EXPECT_EQ(estimate_for(9_GiB), 9_GiB);
  EXPECT_EQ(estimate_for(9_GiB + 1_B), 9728_MiB);
}

TEST(Estimate, of_more_than_any_device_has_is_a_whole_device) {
  Request learned = 80_GiB;
  EXPECT_EQ(fitted(learned, 79_GiB).bytes, 80_GiB) << "what is declared stays, and is refused";
  learned.memory_by = SaidBy::estimate;
  EXPECT_EQ(fitted(learned, 80_GiB).bytes, 80_GiB);
  EXPECT_TRUE(to_memory_request(fitted(learned, 79_GiB), 79_GiB).exclusive);
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

namespace gputest {

namespace {

using namespace literals;

TEST(MemoryClass, is_read_as_it_is_written_or_refused_with_those_there_are) {
  for (const std::string word : {"small", "medium", "large"}) {
    EXPECT_EQ(to_string(parse_memory_class(word)), word);
  }
  for (const std::string text : {"", "huge", "Small", "small ", "smal"}) {
    EXPECT_EQ(tests::message_of<InvalidSetting>([&] { static_cast<void>(parse_memory_class(text, "MEMORY")); }),
              "MEMORY '" + text + "' is unknown; it is one of small, medium, large");
  }
}

TEST(LargePolicy, is_read_as_it_is_written_or_refused_with_those_there_are) {
  for (const std::string word : {"exclude", "serial", "wait"}) {
    EXPECT_EQ(to_string(parse_large_policy(word)), word);
  }
  EXPECT_EQ(tests::message_of<InvalidSetting>([] { static_cast<void>(parse_large_policy("skip")); }),
            "large policy 'skip' is unknown; it is one of exclude, serial, wait");
}

TEST(Request, of_bytes_alone_is_small_up_to_256_mib_and_medium_beyond) {
  EXPECT_EQ(Request{1_B}, make_request(MemoryClass::small, 1_B));
  EXPECT_EQ(Request{256_MiB}, make_request(MemoryClass::small, 256_MiB));
  EXPECT_EQ(Request{256_MiB + 1_B}, make_request(MemoryClass::medium, 256_MiB + 1_B));
  EXPECT_EQ(Request{4_TiB}, make_request(MemoryClass::medium, 4_TiB));
}

TEST(Request, is_read_from_a_class_or_a_size) {
  EXPECT_EQ(parse_request("small"), make_request(MemoryClass::small, std::nullopt));
  EXPECT_EQ(parse_request("large"), make_request(MemoryClass::large, std::nullopt));
  EXPECT_EQ(parse_request("3GiB"), make_request(MemoryClass::medium, 3_GiB));
  EXPECT_EQ(parse_request("1MiB"), make_request(MemoryClass::small, 1_MiB));
  Request alone = 3_GiB;
  alone.alone = true;
  EXPECT_EQ(parse_request("3GiB alone"), alone);
  EXPECT_EQ(to_string(alone), "3 GiB alone");
  EXPECT_FALSE(parse_request("3GiB") == alone);
  EXPECT_EQ(tests::message_of<InvalidSetting>([] { static_cast<void>(parse_request("alone", "MEMORY")); }),
            "MEMORY 'alone' is unknown; it is one of small, medium, large, or a size such as 3GiB");
}

TEST(Request, is_written_for_people) {
  EXPECT_EQ(to_string(Request{MemoryClass::medium}), "medium");
  EXPECT_EQ(to_string(Request{3_GiB}), "3 GiB");
  EXPECT_EQ(to_string(make_request(MemoryClass::large, 40_GiB)), "large with 40 GiB");
  EXPECT_EQ(to_string(make_request(MemoryClass::large, std::nullopt, 4)), "4 x large");
  EXPECT_EQ(to_string(make_request(MemoryClass::medium, 3_GiB, 2)), "2 x 3 GiB");
  EXPECT_EQ(to_string(make_request(MemoryClass::large, 40_GiB, 2)), "2 x large with 40 GiB");
  Request request = make_request(MemoryClass::medium, 3_GiB, 2);
  request.capabilities = {capabilities::sm(80), capabilities::peer_access};
  EXPECT_EQ(to_string(request), "2 x 3 GiB, requiring peer_access, sm_80");
  EXPECT_EQ(memory_text(request), "2 x 3 GiB");
  Request with_heap{3_GiB};
  with_heap.heap = 64_MiB;
  EXPECT_EQ(to_string(with_heap), "3 GiB and a heap of 64 MiB");
  EXPECT_FALSE(with_heap == Request{3_GiB});
}

} // namespace

} // namespace gputest
