// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_cuda.cpp, which the executable's run path names.
#include <gputest/memory_resource.hpp>

#include "core/session/account.hpp"
#include "support/fake_cuda_test.hpp"
#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace gputest {
namespace {

using namespace gputest::literals;
using session::Account;
using Calls = std::vector<std::string>;

constexpr std::size_t gib = std::size_t{1} << 30U;

class MemoryResourceTest : public tests::FakeCudaTest {
protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    unsetenv("GPUTEST_DEVICES");
    unsetenv("GPUTEST_MEMORY_RESOURCE");
    Account::instance().open({"Sort.Keys", {4_GiB, 4_GiB}});
  }
  void TearDown() override {
    unsetenv("GPUTEST_MEMORY_RESOURCE");
    Account::instance().close();
    FakeCudaTest::TearDown();
  }
};

// First, since a process says such things once.
TEST_F(MemoryResourceTest, says_once_which_kind_it_is) {
  ::testing::internal::CaptureStderr();
  static_cast<void>(memory_resource{0});
  static_cast<void>(memory_resource{0});
  static_cast<void>(memory_resource(0, MemoryKind::malloc));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "gputest: memory_resource: pool (device 0 has memory pools)\n"
                                                      "gputest: memory_resource: malloc (the test demands it)\n");
}

TEST_F(MemoryResourceTest, takes_from_the_pool_where_the_driver_says_there_are_pools) {
  device(1).has_pools = false;
  EXPECT_EQ(memory_resource{0}.kind(), MemoryKind::pool);
  EXPECT_EQ(memory_resource{1}.kind(), MemoryKind::malloc);
  memory_resource without{1};
  without.deallocate(without.allocate(1), 1);
  EXPECT_EQ(cuda_->calls, (Calls{"cuMemAlloc", "cuStreamSynchronize", "cuMemFree"}));
}

TEST_F(MemoryResourceTest, calls_the_driver_in_the_order_of_the_stream) {
  memory_resource resource{0, MemoryKind::pool};
  auto* const stream = reinterpret_cast<CUstream_st*>(cuda_);
  void* const ordered = resource.allocate_async(100, 256, stream);
  EXPECT_EQ(cuda_->allocations.rbegin()->second.stream, stream);
  resource.deallocate_async(ordered, 100, 256, stream);
  EXPECT_EQ(cuda_->calls, (Calls{"cuMemAllocFromPoolAsync", "cuMemFreeAsync"}));
  resource.deallocate(stream, resource.allocate(stream, 100), 100);
  resource.deallocate_async(resource.allocate_async(100, stream), 100, stream);
  resource.deallocate_sync(resource.allocate_sync(100), 100);
  EXPECT_TRUE(cuda_->allocations.empty());
}

TEST_F(MemoryResourceTest, refuses_what_the_lease_does_not_cover_before_the_driver_is_asked) {
  memory_resource resource{0};
  memory_resource other{0, MemoryKind::malloc};
  void* const held = resource.allocate(3 * gib);
  cuda_->calls.clear();
  EXPECT_THROW(static_cast<void>(other.allocate(2 * gib)), LeaseExceeded);
  EXPECT_TRUE(cuda_->calls.empty());
  resource.deallocate(held, 3 * gib);
  other.deallocate(other.allocate(4 * gib), 4 * gib);
}

TEST_F(MemoryResourceTest, counts_nothing_that_the_driver_did_not_give) {
  memory_resource resource{0};
  cuda_->allocate_result = 2;
  EXPECT_THROW(static_cast<void>(resource.allocate(4 * gib)), OutOfMemory);
  cuda_->allocate_result = 700;
  EXPECT_THROW(static_cast<void>(resource.allocate(4 * gib)), Error);
  cuda_->allocate_result = 0;
  resource.deallocate(resource.allocate(4 * gib), 4 * gib);
}

TEST_F(MemoryResourceTest, aligns_to_powers_of_two_up_to_256) {
  memory_resource resource{0};
  for (const std::size_t alignment : {1U, 16U, 256U}) {
    resource.deallocate(resource.allocate(1, alignment), 1, alignment);
  }
  for (const std::size_t alignment : {0U, 24U, 512U}) {
    EXPECT_EQ(tests::message_of<InvalidSetting>([&] { static_cast<void>(resource.allocate(1, alignment)); }),
              "an alignment of " + std::to_string(alignment) +
                  " was asked of a memory resource; it is a power of two up to 256");
  }
}

TEST_F(MemoryResourceTest, leaves_alone_what_is_not_its_own_and_says_so) {
  memory_resource resource{0};
  void* const pointer = resource.allocate(100);
  int external = 0;
  ::testing::internal::CaptureStderr();
  resource.deallocate(&external, 100);
  resource.deallocate(pointer, 100);
  resource.deallocate(pointer, 100);
  const std::string line =
      "gputest: memory was given back to a memory resource that did not come from one, or was given "
      "back before; it is left alone\n";
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), line + line);
}

TEST_F(MemoryResourceTest, counts_managed_memory_against_the_same_lease) {
  managed_memory_resource managed{0};
  memory_resource resource{0};
  void* const held = managed.allocate(3 * gib);
  EXPECT_EQ(cuda_->calls, (Calls{"cuMemAllocManaged"}));
  EXPECT_THROW(static_cast<void>(resource.allocate(2 * gib)), LeaseExceeded);
  EXPECT_THROW(static_cast<void>(managed.allocate(2 * gib)), LeaseExceeded);
  managed_memory_resource elsewhere{1};
  elsewhere.deallocate(elsewhere.allocate(4 * gib), 4 * gib);
  managed.deallocate(held, 3 * gib);
}

TEST_F(MemoryResourceTest, refuses_managed_memory_that_the_device_has_no_room_for_before_the_driver_is_asked) {
  device(0).used_bytes = device(0).total_bytes - gib;
  managed_memory_resource managed{0};
  EXPECT_EQ(
      tests::message_of<OutOfMemory>([&] { static_cast<void>(managed.allocate(2 * gib)); }),
      "2 GiB of managed memory were asked of device 0, which has 1 GiB free: managed memory does not spread over "
      "devices but spills to the host, which can hang a device. Ask for less, or for several devices with GPUS and "
      "distribute the data over them");
  EXPECT_TRUE(cuda_->calls.empty());
  managed.deallocate(managed.allocate(gib), gib);
  memory_resource resource{0};
  EXPECT_EQ(tests::message_of<OutOfMemory>([&] { static_cast<void>(resource.allocate(2 * gib)); }),
            "out of memory: 2 GiB asked of device 0, which has 1 GiB free")
      << "the driver's answer";
  device(0).used_bytes = 0;
  resource.deallocate(resource.allocate(4 * gib), 4 * gib); // the lease has room for it: nothing else is held
}

TEST_F(MemoryResourceTest, refuses_managed_memory_of_a_device_without_it) {
  device(0).has_managed = false;
  EXPECT_EQ(tests::message_of<InvalidSetting>([] { static_cast<void>(managed_memory_resource{0}); }),
            "managed memory was asked for, and device 0 has none (CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY is 0); use "
            "gputest::memory_resource");
}

} // namespace
} // namespace gputest
