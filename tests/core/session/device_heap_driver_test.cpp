// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_cuda.cpp, which the executable's run path names.
#include "core/session/overhead.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "support/fake_cuda_test.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace gputest::session {
namespace {

using namespace gputest::literals;

constexpr int malloc_heap = 2; // CU_LIMIT_MALLOC_HEAP_SIZE

class DeviceHeapTest : public tests::FakeCudaTest {
protected:
  DeviceHeap heap_{devices::cuda_process()};
  std::vector<Device> devices_{{"GPU-a", "a", 16_GiB}, {"GPU-b", "b", 16_GiB}};
};

TEST_F(DeviceHeapTest, is_set_on_the_devices_of_the_test_and_once) {
  heap_.expect(64_MiB);
  EXPECT_EQ(heap_.prepare(64_MiB, devices_, 1, "First.asks"), "");
  EXPECT_EQ(device(0).limits.at(malloc_heap), (64_MiB).count());
  EXPECT_FALSE(device(1).active) << "not among the test's devices";
  device(0).set_limit_result = 1; // as after a kernel that used it
  EXPECT_EQ(heap_.prepare(64_MiB, devices_, 2, "Second.asks"), "");
  EXPECT_EQ(device(1).limits.at(malloc_heap), (64_MiB).count());
}

TEST_F(DeviceHeapTest, is_the_largest_that_any_test_asks_for_before_the_first_kernel_of_any) {
  heap_.expect(256_MiB);
  EXPECT_EQ(heap_.cost(), 258_MiB);
  EXPECT_EQ(heap_.prepare(0_B, devices_, 1, "Test.is_silent"), "");
  EXPECT_EQ(device(0).limits.at(malloc_heap), (256_MiB).count());
  EXPECT_EQ(heap_.prepare(64_MiB, devices_, 1, "First.asks"), "");
  EXPECT_EQ(
      heap_.prepare(1_GiB, devices_, 1, "Second.asks"),
      "Second.asks asks for a device heap of 1 GiB, and its process has set one of 256 MiB, which cannot change "
      "any more. Run it in an entry of its own: gpu_add_test(... COMMAND <executable> --gtest_filter=<tests> HEAP "
      "<size>)");
  EXPECT_EQ(device(0).limits.at(malloc_heap), (256_MiB).count());
}

TEST_F(DeviceHeapTest, is_left_as_it_is_if_no_test_asks) {
  EXPECT_EQ(heap_.prepare(0_B, devices_, 1, "Test.is_silent"), "");
  EXPECT_FALSE(device(0).active);
  EXPECT_EQ(heap_.cost(), 0_B);
}

TEST_F(DeviceHeapTest, names_the_device_on_which_it_cannot_be_set_and_tries_again) {
  heap_.expect(64_MiB);
  device(1).set_limit_result = 1;
  EXPECT_THAT(heap_.prepare(64_MiB, devices_, 2, "First.asks"),
              testing::StartsWith("First.asks asks for a device heap of 64 MiB, and 64 MiB cannot be set on GPU-b: "
                                  "CUDA_ERROR_INVALID_VALUE (1). "));
  EXPECT_EQ(device(0).limits.at(malloc_heap), (64_MiB).count());
  device(0).set_limit_result = 1; // there it is set already
  device(1).set_limit_result = 0;
  EXPECT_EQ(heap_.prepare(64_MiB, devices_, 2, "Second.asks"), "");
  EXPECT_EQ(device(1).limits.at(malloc_heap), (64_MiB).count());
}

} // namespace
} // namespace gputest::session
