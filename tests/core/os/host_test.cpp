// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/host.hpp"

#include "support/in_child.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace gputest::os {
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

TEST(HostMemory, is_not_used_by_addresses_that_are_reserved_and_end_who_uses_them) {
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const first = reserve_addresses(bytes);
  ASSERT_NE(first, nullptr);
  for (const bool writes : {false, true}) {
    EXPECT_EQ(tests::in_child([&] {
                ::signal(SIGSEGV, SIG_DFL);
                volatile char* const byte = static_cast<char*>(first);
                if (writes) {
                  *byte = 1;
                }
                return static_cast<int>(*byte);
              }),
              -SIGSEGV);
  }
  EXPECT_EQ(::msync(first, bytes, MS_ASYNC), 0) << "they are this process's";
  release_addresses(first, bytes);
  EXPECT_NE(::msync(first, bytes, MS_ASYNC), 0) << "nobody's any more";
  EXPECT_EQ(reserve_addresses(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

} // namespace
} // namespace gputest::os
