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

TEST(HostMemory, of_a_node_is_available_if_it_is_free_or_caches_files) {
  const std::string text = "\nNode 1 MemTotal:       1000 kB\nNode 1 MemFree:   400 kB\nNode 1 MemUsed: 600 kB\n"
                           "Node 1 Active:  300 kB\nNode 1 Inactive(anon): 90 kB\nNode 1 Active(file):  50 kB\n"
                           "Node 1 Inactive(file): 30 kB\nNode 1 Shmem: 7 kB\nNode 1 SReclaimable:  4 kB\n";
  const auto memory = parse_node_memory(text);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_bytes, 1000ULL * 1024);
  EXPECT_EQ(memory->available_bytes, 484ULL * 1024);
  EXPECT_EQ(
      parse_node_memory("Node 1 MemTotal: 5 kB\nNode 1 MemFree: 4 kB\nNode 1 Active(file): 3 kB\n")->available_bytes,
      5ULL * 1024);
  EXPECT_FALSE(parse_node_memory(""));
  EXPECT_FALSE(parse_node_memory("Node 1 MemTotal: 5 kB\n"));
  EXPECT_FALSE(read_node_memory(100000));
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
