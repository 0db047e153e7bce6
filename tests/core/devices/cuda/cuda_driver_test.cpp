// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_cuda.cpp, which the executable's run path names.
#include "core/devices/cuda/cuda_driver.hpp"

#include "support/fake_cuda_test.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

namespace gputest::devices {
namespace {

TEST(CudaDriver, is_never_loaded_by_asking) {
  unsetenv("FAKE_CUDA_WAS_LOADED");
  EXPECT_FALSE(cuda_is_initialised());
  EXPECT_FALSE(cuda_process().synchronize_and_trim().has_context);
  EXPECT_EQ(std::getenv("FAKE_CUDA_WAS_LOADED"), nullptr);
}

class CudaDriverTest : public tests::FakeCudaTest {};

TEST_F(CudaDriverTest, synchronises_and_trims_every_active_device) {
  device(0).active = true;
  device(1).active = true;
  const auto settled = cuda_process().synchronize_and_trim();
  EXPECT_TRUE(settled.has_context);
  EXPECT_EQ(settled.error, "");
  for (const std::size_t ordinal : {0U, 1U}) {
    EXPECT_EQ(device(ordinal).synchronized, 1) << ordinal;
    EXPECT_EQ(device(ordinal).default_pool_trimmed, 1) << ordinal;
    EXPECT_EQ(device(ordinal).graph_memory_trimmed, 1) << ordinal;
  }
}

TEST_F(CudaDriverTest, trims_a_current_pool_of_its_own_besides_the_default_one) {
  device(0).active = true;
  device(0).own_current_pool = true;
  EXPECT_EQ(cuda_process().synchronize_and_trim().error, "");
  EXPECT_EQ(device(0).default_pool_trimmed, 1);
  EXPECT_EQ(device(0).current_pool_trimmed, 1);
}

TEST_F(CudaDriverTest, trims_the_pools_of_managed_memory_and_of_the_host_once_each) {
  device(0).active = true;
  device(1).active = true;
  EXPECT_EQ(cuda_process().synchronize_and_trim().error, "");
  EXPECT_EQ(device(0).managed_pool_trimmed, 1);
  EXPECT_EQ(device(1).managed_pool_trimmed, 1);
  EXPECT_EQ(cuda_->host_pools_trimmed, 3); // managed without a place, managed on the host, pinned on the host
}

TEST_F(CudaDriverTest, trims_only_pools_that_keep_what_nothing_uses) {
  device(0).active = true;
  cuda_->pools_keep_bytes = 0;
  device(0).graphs_keep_bytes = 0;
  EXPECT_EQ(cuda_process().synchronize_and_trim().error, "");
  EXPECT_EQ(device(0).default_pool_trimmed + device(0).managed_pool_trimmed + device(0).graph_memory_trimmed, 0);
  EXPECT_EQ(cuda_->host_pools_trimmed, 0);
  device(0).kept_bytes = 3;
  device(0).used_bytes = 3;
  EXPECT_EQ(cuda_process().synchronize_and_trim().error, "");
  EXPECT_EQ(device(0).default_pool_trimmed, 1);
  EXPECT_EQ(device(0).managed_pool_trimmed, 0);
}

TEST_F(CudaDriverTest, shows_the_free_memory_of_devices_with_a_context_after_it_has_trimmed) {
  EXPECT_TRUE(cuda_process().synchronize_and_trim().free_bytes.empty());
  device(1).active = true;
  device(1).used_bytes = 5;
  device(1).kept_bytes = 3;
  EXPECT_EQ(cuda_process().synchronize_and_trim().free_bytes, std::vector<std::uint64_t>{device(1).total_bytes - 2});
  device(0).active = true;
  device(0).used_bytes = 7;
  const std::vector<std::uint64_t> of_both{device(0).total_bytes - 7, device(1).total_bytes - 2};
  EXPECT_EQ(cuda_process().synchronize_and_trim().free_bytes, of_both);
}

TEST_F(CudaDriverTest, names_a_sticky_error_and_leaves_that_device_alone) {
  device(0).active = true;
  device(0).synchronize_result = 700;
  const auto settled = cuda_process().synchronize_and_trim();
  EXPECT_TRUE(settled.has_context);
  EXPECT_EQ(settled.error, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_EQ(device(0).default_pool_trimmed, 0);
}

TEST_F(CudaDriverTest, does_not_take_an_open_stream_capture_for_a_sticky_error) {
  device(0).active = true;
  device(0).synchronize_result = 900;
  device(1).active = true;
  device(1).used_bytes = 5;
  const auto settled = cuda_process().synchronize_and_trim();
  EXPECT_TRUE(settled.has_context);
  EXPECT_EQ(settled.error, "");
  EXPECT_EQ(device(0).default_pool_trimmed, 0) << "its work has not ended";
  EXPECT_EQ(device(1).default_pool_trimmed, 1);
  EXPECT_EQ(settled.free_bytes, std::vector<std::uint64_t>{device(1).total_bytes - 5});
}

TEST_F(CudaDriverTest, leaves_the_threads_context_stack_and_the_contexts_as_they_were) {
  device(0).active = true;
  device(0).synchronize_result = 700;
  device(1).active = true;
  cuda_->stack[0] = 1;
  cuda_->depth = 1;
  EXPECT_TRUE(cuda_process().synchronize_and_trim().has_context);
  EXPECT_EQ(cuda_->depth, 1U);
  EXPECT_EQ(cuda_->stack[0], 1);
  EXPECT_EQ(device(0).retained, 0);
  EXPECT_EQ(device(1).retained, 0);
}

TEST_F(CudaDriverTest, shows_the_limits_of_contexts_and_the_current_device) {
  device(1).active = true;
  device(1).limits = {{0, 10}, {1, 20}, {2, 30}};
  auto state = cuda_process().state();
  EXPECT_FALSE(device(0).active);
  EXPECT_EQ(state.current, std::nullopt);
  ASSERT_EQ(state.limits.size(), 1U);
  EXPECT_EQ(state.limits.at(1).at("cudaLimitPrintfFifoSize"), 20U);
  EXPECT_EQ(state.limits.at(1).at("cudaLimitMallocHeapSize"), 30U);
  EXPECT_EQ(state.limits.at(1).count("cudaLimitStackSize"), 0U); // the driver changes it by itself
  EXPECT_EQ(cuda_->depth, 0U);

  cuda_->stack.at(cuda_->depth++) = 1;
  state = cuda_process().state();
  EXPECT_EQ(state.current, 1);
  EXPECT_EQ(cuda_->depth, 1U);
}

} // namespace
} // namespace gputest::devices
