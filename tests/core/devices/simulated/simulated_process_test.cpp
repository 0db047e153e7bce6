// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/simulated/simulated_process.hpp"

#include "support/in_child.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>
#include <gputest/simulated_buffer.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include <unistd.h>

namespace gputest::devices {
namespace {

using namespace gputest::literals;
using Spills = std::optional<std::map<int, Bytes>>;

/// All addresses that this process has.
Bytes addresses() {
  std::uint64_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages;
  return Bytes{pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

/// Two simulated devices of 4 GiB for all tests of this executable, since a process has one view of its devices.
class SimulatedSourceTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    static const tests::PrivateFolder folder;
    setenv("GPUTEST_DIR", folder.path().c_str(), 1);
    setenv("GPUTEST_DEVICES", "simulated:2x4GiB,context=0", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
  }

  void* allocate(MemoryKind kind, Bytes bytes) { return source_->allocate(kind, 0, bytes, {}, true); }
  void free(MemoryKind kind, void* pointer, Bytes bytes) { EXPECT_EQ(source_->free(kind, 0, pointer, bytes, {}), ""); }

  MemorySource* source_ = &simulated_process().memory();
};

TEST_F(SimulatedSourceTest, counts_together_with_buffers) {
  void* const pointer = allocate(MemoryKind::pool, 1_GiB);
  {
    const SimulatedBuffer buffer{1_GiB};
    EXPECT_EQ(source_->free_bytes(0), 2_GiB);
    EXPECT_THROW(allocate(MemoryKind::malloc, 3_GiB), OutOfMemory);
  }
  free(MemoryKind::pool, pointer, 1_GiB);
  EXPECT_EQ(source_->free_bytes(0), 4_GiB);
}

TEST_F(SimulatedSourceTest, has_free_what_other_processes_leave) {
  const pid_t other = tests::start_keeper([] { return SimulatedBuffer{1_GiB}; });
  EXPECT_EQ(source_->free_bytes(0), 3_GiB);
  EXPECT_EQ(::kill(other, SIGKILL), 0);
  EXPECT_EQ(tests::end_of(other), -SIGKILL);
}

TEST_F(SimulatedSourceTest, gives_addresses_that_are_nobody_elses) {
  std::set<char*> begins;
  for (int i = 0; i < 4; ++i) {
    begins.insert(static_cast<char*>(allocate(MemoryKind::pool, 1_GiB)));
  }
  ASSERT_EQ(begins.size(), 4U);
  for (auto a = begins.begin(), b = std::next(a); b != begins.end(); ++a, ++b) {
    EXPECT_GE(static_cast<std::uint64_t>(*b - *a), (1_GiB).count()) << "they overlap";
  }
  for (char* begin : begins) {
    free(MemoryKind::pool, begin, 1_GiB);
  }
}

TEST_F(SimulatedSourceTest, keeps_no_addresses_for_what_it_could_not_give) {
  const Bytes before = addresses();
  EXPECT_THROW(allocate(MemoryKind::pool, 1_TiB), OutOfMemory);
  EXPECT_LT(addresses(), before + 1_TiB);
}

TEST_F(SimulatedSourceTest, ends_a_process_that_touches_its_memory) {
  GTEST_FLAG_SET(death_test_style, "fast"); // a new process would leave its folder behind
  void* const pointer = allocate(MemoryKind::pool, 1_MiB);
  auto* const byte = static_cast<volatile char*>(pointer);
  // By SIGSEGV, or by what a sanitizer makes of that.
  const auto is_ended = [](int status) { return status != 0; };
  EXPECT_EXIT(*byte = 1, is_ended, "");
  EXPECT_EXIT(static_cast<void>(byte[(1_MiB).count() - 1]), is_ended, "");
  free(MemoryKind::pool, pointer, 1_MiB);
}

TEST_F(SimulatedSourceTest, drives_managed_memory_to_the_host_when_other_memory_needs_its_place) {
  void* const managed = allocate(MemoryKind::managed, 3_GiB);
  EXPECT_EQ(source_->take_spills(), Spills{std::in_place});
  void* const fixed = allocate(MemoryKind::pool, 2_GiB);
  EXPECT_EQ(source_->free_bytes(0), 0_B);
  EXPECT_EQ(source_->take_spills(), (Spills{{{0, 1_GiB}}}));
  EXPECT_EQ(source_->take_spills(), Spills{std::in_place}) << "told twice";
  EXPECT_THROW(allocate(MemoryKind::pool, 3_GiB), OutOfMemory) << "the 2 GiB that are left of it are not enough";
  EXPECT_EQ(source_->take_spills(), Spills{std::in_place}) << "and stay where they are";
  free(MemoryKind::managed, managed, 3_GiB);
  EXPECT_EQ(source_->free_bytes(0), 2_GiB);
  free(MemoryKind::pool, fixed, 2_GiB);
  EXPECT_EQ(source_->free_bytes(0), 4_GiB);
}

TEST_F(SimulatedSourceTest, drives_no_managed_memory_of_another_device_to_the_host) {
  const auto of_another = [&] { return source_->allocate(MemoryKind::managed, 1, 1_GiB, {}, true); };
  void* const before = of_another();
  void* const managed = allocate(MemoryKind::managed, 3_GiB);
  void* const after = of_another(); // of the two, one has the lower address
  void* const fixed = allocate(MemoryKind::pool, 2_GiB);
  EXPECT_EQ(source_->take_spills(), (Spills{{{0, 1_GiB}}}));
  for (void* const one : {before, after}) {
    EXPECT_EQ(source_->free(MemoryKind::managed, 1, one, 1_GiB, {}), "");
  }
  EXPECT_EQ(source_->free_bytes(1), 4_GiB);
  free(MemoryKind::managed, managed, 3_GiB);
  EXPECT_EQ(source_->free_bytes(0), 2_GiB);
  free(MemoryKind::pool, fixed, 2_GiB);
}

TEST_F(SimulatedSourceTest, spills_managed_memory_that_has_no_room_from_the_beginning) {
  void* const managed = allocate(MemoryKind::managed, 5_GiB);
  EXPECT_EQ(source_->free_bytes(0), 0_B);
  EXPECT_EQ(source_->take_spills(), (Spills{{{0, 1_GiB}}}));
  free(MemoryKind::managed, managed, 5_GiB);
  EXPECT_EQ(source_->free_bytes(0), 4_GiB);
}

TEST_F(SimulatedSourceTest, knows_no_other_device) {
  EXPECT_THROW(static_cast<void>(source_->free_bytes(2)), InvalidSetting);
  EXPECT_THROW(static_cast<void>(source_->has_pools(-1)), InvalidSetting);
}

} // namespace
} // namespace gputest::devices
