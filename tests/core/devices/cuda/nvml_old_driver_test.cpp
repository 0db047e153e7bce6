// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_nvml.cpp built as a driver that lacks the newer functions.
#include "core/devices/cuda/cuda_driver.hpp"

#include <gtest/gtest.h>

namespace gputest::devices {
namespace {

TEST(NvmlOldDriver, shows_devices_and_memory_without_the_newer_functions) {
  std::string why;
  const auto nvml = open_real(why);
  ASSERT_TRUE(nvml) << why;
  ASSERT_EQ(nvml->devices().size(), 1U) << why;
  EXPECT_EQ(nvml->devices()[0].uuid, "GPU-fake-0");
  EXPECT_EQ(nvml->reserved_bytes(0), 0U);
  EXPECT_EQ(nvml->used_bytes(0), 512ULL << 20U);
  EXPECT_EQ(nvml->origin(), "driver of unknown version");
  const auto facts = nvml->facts(0, AskDriver::no);
  EXPECT_EQ(facts.sm, std::nullopt);
  EXPECT_EQ(facts.compute_mode, policy::ComputeMode::usual);
  EXPECT_FALSE(nvml->memory(0).processes) << "a driver without the function cannot list processes";
}

} // namespace
} // namespace gputest::devices
