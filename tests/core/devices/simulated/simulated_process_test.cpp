// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/simulated/simulated.hpp"

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

} // namespace
} // namespace gputest::devices
