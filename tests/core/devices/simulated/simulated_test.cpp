// SPDX-License-Identifier: BSD-3-Clause
// A process has one view of its devices, so each test looks in a child of its own. These come before the tests of the
// executable that use devices in its own process.
#include "core/devices/simulated/simulated.hpp"

#include "core/devices/meter.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"
#include "support/private_folder.hpp"

#include <gputest/error.hpp>
#include <gputest/simulated_buffer.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

namespace gputest::devices {

namespace {

using namespace gputest::literals;

/// Three simulated devices, of which the process sees the last and the first, in this order.
class SimulatedProcessTest : public ::testing::Test {
protected:
  void in_process(const std::function<void()>& look) {
    EXPECT_EQ(tests::in_child([&] {
                setenv("GPUTEST_DIR", folder_.path().c_str(), 1);
                setenv("GPUTEST_DEVICES", devices_.c_str(), 1);
                setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
                look();
                return HasFailure() ? 1 : 0;
              }),
              0);
  }

  /// Bytes in use of a device, as the machine numbers them.
  [[nodiscard]] Bytes used(std::size_t index) const {
    SimulatedMemory memory{policy::parse_simulated_devices(devices_.substr(devices_.find(':') + 1)), folder_.path()};
    return Bytes{memory.use(index).used_bytes};
  }

  std::string devices_ = "simulated:3x4GiB,context=1MiB";
  tests::PrivateFolder folder_;
};

TEST_F(SimulatedProcessTest, are_numbered_as_the_process_sees_them) {
  in_process([&] {
    simulated_process().take(0, 10_MiB);
    EXPECT_EQ(used(2), 11_MiB);
    EXPECT_EQ(used(0), 0_B);
    EXPECT_TRUE(simulated_process().sees_only({"SIM-3x4096MiB-2", "SIM-3x4096MiB-0"}));
    EXPECT_FALSE(simulated_process().sees_only({"SIM-3x4096MiB-2", "SIM-3x4096MiB-1"}));
    simulated_process().take(1, 20_MiB);
    EXPECT_EQ(used(0), 21_MiB);
    EXPECT_EQ(simulated_process().free_bytes(0), 4_GiB - 11_MiB);
    EXPECT_EQ(simulated_process().free_bytes(1), 4_GiB - 21_MiB);
    const std::vector<std::uint64_t> left{(4_GiB - 11_MiB).count(), (4_GiB - 21_MiB).count()};
    EXPECT_EQ(simulated_process().synchronize_and_trim().free_bytes, left);
    simulated_process().give_back(0, 10_MiB);
    EXPECT_EQ(used(2), 1_MiB) << "the context stays";
    EXPECT_EQ(used(0), 21_MiB);
  });
}

TEST_F(SimulatedProcessTest, are_in_use_once_somebody_asked_for_them) {
  in_process([] {
    EXPECT_FALSE(simulated_process().in_use());
    EXPECT_FALSE(simulated_process().synchronize_and_trim().has_context);
    EXPECT_FALSE(simulated_process().in_use()) << "settling begins no use";
    EXPECT_EQ(simulated_process().free_bytes(0), 4_GiB);
    EXPECT_TRUE(simulated_process().in_use());
    EXPECT_FALSE(simulated_process().synchronize_and_trim().has_context) << "nothing was allocated";
    simulated_process().take(1, 1_MiB);
    const auto settled = simulated_process().synchronize_and_trim();
    EXPECT_TRUE(settled.has_context);
    EXPECT_EQ(settled.free_bytes, std::vector<std::uint64_t>{(4_GiB - 2_MiB).count()});
  });
}

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

  SimulatedProcess* source_ = &simulated_process();
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
