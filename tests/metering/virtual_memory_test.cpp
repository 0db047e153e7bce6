// SPDX-License-Identifier: BSD-3-Clause
#include "metering/virtual_memory.hpp"

#include <gtest/gtest.h>

namespace gputest::metering {
namespace {

constexpr VirtualMemory::Handle handle = 5;
constexpr std::uint64_t address = 0x10000;
constexpr std::uint64_t size = 0x1000;

class VirtualMemoryTest : public ::testing::Test {
protected:
  VirtualMemoryTest() { memory_.created(handle); }

  VirtualMemory memory_;
};

TEST_F(VirtualMemoryTest, stays_while_its_handle_is_held) {
  memory_.mapped(address, handle);
  EXPECT_TRUE(memory_.unmapped(address, size).empty());
  EXPECT_TRUE(memory_.released(handle));
}

TEST_F(VirtualMemoryTest, stays_until_each_reference_is_released) {
  memory_.retained(handle);
  EXPECT_FALSE(memory_.released(handle));
  EXPECT_TRUE(memory_.released(handle));
}

TEST_F(VirtualMemoryTest, is_unmapped_with_others_in_one_range) {
  constexpr VirtualMemory::Handle other = 6;
  memory_.created(other);
  memory_.mapped(address, handle);
  memory_.mapped(address + size, other);
  EXPECT_FALSE(memory_.released(handle));
  EXPECT_FALSE(memory_.released(other));
  EXPECT_EQ(memory_.unmapped(address, 2 * size), (std::vector{handle, other}));
}

TEST_F(VirtualMemoryTest, leaves_alone_what_it_has_not_seen_made) {
  constexpr VirtualMemory::Handle imported = 9;
  memory_.mapped(address, imported);
  memory_.retained(imported);
  EXPECT_FALSE(memory_.released(imported));
  EXPECT_TRUE(memory_.unmapped(address, size).empty());
}

} // namespace
} // namespace gputest::metering
