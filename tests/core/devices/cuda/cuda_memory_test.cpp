// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_cuda.cpp, which the executable's run path names.
#include "core/devices/cuda/cuda_driver.hpp"

#include "support/fake_cuda_test.hpp"
#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace gputest::devices {
namespace {

using Calls = std::vector<std::string>;

// The first of its executable that uses the driver: it is initialised once a process.
class CudaMemoryBeforeUse : public tests::FakeCudaTest {};

TEST_F(CudaMemoryBeforeUse, initialises_the_driver_or_says_why_not) {
  cuda_->initialised = false;
  cuda_->init_result = 100;
  EXPECT_EQ(tests::message_of<Error>([] { static_cast<void>(cuda_process().has_pools(0)); }),
            "memory of a GPU was asked for, and the CUDA driver cannot be used: cuInit() answers "
            "CUDA_ERROR_NO_DEVICE (100)");
  cuda_->init_result = 0;
  EXPECT_NO_THROW(static_cast<void>(cuda_process().has_pools(0)));
  EXPECT_TRUE(cuda_->initialised);
}

class CudaMemoryTest : public tests::FakeCudaTest {
protected:
  void SetUp() override {
    FakeCudaTest::SetUp();
    static_cast<void>(cuda_process().has_pools(0)); // initialises the driver
  }

  ThisProcess* memory_ = &cuda_process();
};

TEST_F(CudaMemoryTest, asks_the_attributes_and_makes_no_context) {
  device(1).has_pools = false;
  device(0).has_managed = false;
  EXPECT_TRUE(memory_->has_pools(0));
  EXPECT_FALSE(memory_->has_pools(1));
  EXPECT_FALSE(memory_->has_managed_memory(0));
  EXPECT_TRUE(memory_->has_managed_memory(1));
  EXPECT_FALSE(device(0).active || device(1).active);
}

TEST_F(CudaMemoryTest, allocates_on_the_device_that_is_asked_and_leaves_the_context_stack_alone) {
  void* const pointer = memory_->allocate(MemoryKind::malloc, 1, Bytes{100}, {}, true);
  EXPECT_EQ(device(1).used_bytes, 100U);
  EXPECT_EQ(device(0).used_bytes, 0U);
  EXPECT_EQ(cuda_->depth, 0U);
  EXPECT_EQ(memory_->free(MemoryKind::malloc, 1, pointer, {}, {}), "");
  EXPECT_EQ(device(1).used_bytes, 0U);
  EXPECT_EQ(cuda_->depth, 0U);
}

TEST_F(CudaMemoryTest, keeps_the_context_as_long_as_the_process_lives) {
  void* const pointer = memory_->allocate(MemoryKind::malloc, 0, Bytes{100}, {}, true);
  EXPECT_EQ(device(0).retained, 1);
  EXPECT_EQ(memory_->free(MemoryKind::malloc, 0, pointer, {}, {}), "");
  EXPECT_EQ(device(0).retained, 1);
}

TEST_F(CudaMemoryTest, allocates_from_the_current_pool_and_waits_only_where_asked) {
  device(0).own_current_pool = true;
  void* const waited = memory_->allocate(MemoryKind::pool, 0, Bytes{100}, {}, true);
  EXPECT_EQ(cuda_->calls, (Calls{"cuMemAllocFromPoolAsync", "cuStreamSynchronize"}));
  cuda_->calls.clear();
  auto* const stream = reinterpret_cast<CUstream_st*>(cuda_);
  void* const ordered = memory_->allocate(MemoryKind::pool, 0, Bytes{100}, stream, false);
  EXPECT_EQ(cuda_->calls, (Calls{"cuMemAllocFromPoolAsync"}));
  EXPECT_EQ(cuda_->allocations.rbegin()->second.stream, stream);
  cuda_->calls.clear();
  EXPECT_EQ(memory_->free(MemoryKind::pool, 0, waited, {}, {}), "");
  EXPECT_EQ(memory_->free(MemoryKind::pool, 0, ordered, {}, stream), "");
  EXPECT_EQ(cuda_->calls, (Calls{"cuMemFreeAsync", "cuMemFreeAsync"}));
}

TEST_F(CudaMemoryTest, frees_without_a_pool_only_when_the_stream_is_done) {
  void* const pointer = memory_->allocate(MemoryKind::malloc, 0, Bytes{100}, {}, false);
  void* const managed = memory_->allocate(MemoryKind::managed, 0, Bytes{100}, {}, false);
  EXPECT_EQ(memory_->free(MemoryKind::malloc, 0, pointer, {}, {}), "");
  EXPECT_EQ(memory_->free(MemoryKind::managed, 0, managed, {}, {}), "");
  EXPECT_EQ(cuda_->calls, (Calls{"cuMemAlloc", "cuMemAllocManaged", "cuStreamSynchronize", "cuMemFree",
                                 "cuStreamSynchronize", "cuMemFree"}));
}

TEST_F(CudaMemoryTest, says_what_was_asked_and_what_is_free) {
  device(0).used_bytes = device(0).total_bytes - (std::uint64_t{1} << 30U);
  EXPECT_EQ(tests::message_of<OutOfMemory>([&] {
              static_cast<void>(memory_->allocate(MemoryKind::malloc, 0, Bytes{std::uint64_t{2} << 30U}, {}, true));
            }),
            "out of memory: 2 GiB asked of device 0, which has 1 GiB free");
}

TEST_F(CudaMemoryTest, gives_the_drivers_name_of_any_other_error) {
  cuda_->allocate_result = 700;
  EXPECT_EQ(tests::message_of<Error>(
                [&] { static_cast<void>(memory_->allocate(MemoryKind::pool, 0, Bytes{1024}, {}, true)); }),
            "1 KiB asked of device 0, and the CUDA driver answers CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_EQ(tests::message_of<Error>(
                [&] { static_cast<void>(memory_->allocate(MemoryKind::pool, 5, Bytes{1024}, {}, true)); }),
            "device 5 was asked for, and the CUDA driver answers CUDA_ERROR_INVALID_DEVICE (101); this process sees 2 "
            "devices. Ask for more with the argument GPUS of its CMake function");
  cuda_->allocate_result = 0;
  void* const pointer = memory_->allocate(MemoryKind::malloc, 0, Bytes{1024}, {}, true);
  cuda_->free_result = 700;
  EXPECT_EQ(memory_->free(MemoryKind::malloc, 0, pointer, {}, {}), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
}

TEST_F(CudaMemoryTest, sets_the_heap_of_a_context_that_it_makes) {
  EXPECT_EQ(memory_->set_heap(1, Bytes{4096}), "");
  EXPECT_TRUE(device(1).active);
  EXPECT_EQ(device(1).limits.at(2), 4096U);
  EXPECT_TRUE(device(0).limits.empty());
  device(1).set_limit_result = 1;
  EXPECT_EQ(memory_->set_heap(1, Bytes{8192}), "CUDA_ERROR_INVALID_VALUE (1)");
}

} // namespace
} // namespace gputest::devices
