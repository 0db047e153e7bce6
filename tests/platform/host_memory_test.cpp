// SPDX-License-Identifier: BSD-3-Clause
#include "platform/host_memory.hpp"

#include <gtest/gtest.h>

namespace gputest::platform {
namespace {

TEST(HostMemory, is_read_from_the_lines_that_say_it) {
  const auto memory = parse_host_memory("MemTotal:       16318412 kB\nMemFree:  1 kB\nMemAvailable:   8000 kB\nX: 3\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_bytes, 16318412ULL * 1024);
  EXPECT_EQ(memory->available_bytes, 8000ULL * 1024);
  EXPECT_FALSE(parse_host_memory(""));
  EXPECT_FALSE(parse_host_memory("MemTotal: 5 kB\nMemFree: 3 kB\n"));
  EXPECT_FALSE(parse_host_memory("MemTotalX: 5 kB\nMemAvailable: 3 kB\n"));
}

TEST(HostMemory, of_this_machine_is_not_all_taken) {
  const auto memory = read_host_memory();
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->available_bytes, 0U);
  EXPECT_LE(memory->available_bytes, memory->total_bytes);
}

} // namespace
} // namespace gputest::platform
