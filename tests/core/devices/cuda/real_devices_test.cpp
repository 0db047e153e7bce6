// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_nvml.cpp, which the executable's run path names.
#include "core/devices/cuda/cuda_driver.hpp"

#include "core/os/host.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace gputest::devices {
namespace {

constexpr Bytes total{80ULL << 30U};     // of the fake devices
constexpr Bytes reserved{512ULL << 20U}; // of that, for the driver

class RealDevicesTest : public ::testing::Test {
protected:
  ~RealDevicesTest() override { unsetenv("FAKE_NVML"); }

  std::unique_ptr<DeviceList> open(const char* machine) {
    setenv("FAKE_NVML", machine, 1);
    return open_real(why_none_);
  }

  std::string why_none_;
};

TEST_F(RealDevicesTest, show_what_nvml_shows) {
  const auto list = open("gpus=2 used=1000 compute=7:100,8:-");
  ASSERT_NE(list, nullptr) << why_none_;
  ASSERT_EQ(list->devices().size(), 2U);
  EXPECT_EQ(list->devices()[1].uuid, "GPU-fake-1");
  EXPECT_EQ(list->devices()[1].name, "Fake GPU");
  EXPECT_EQ(list->devices()[1].total, total);
  EXPECT_FALSE(list->devices()[1].simulated);
  EXPECT_EQ(list->reserved_bytes(1), reserved.count());
  EXPECT_EQ(list->origin(), "driver 999.1");

  const auto use = list->memory(1);
  EXPECT_EQ(use.used_bytes, 1000U);
  ASSERT_TRUE(use.processes);
  ASSERT_EQ(use.processes->size(), 2U);
  EXPECT_EQ(use.processes->at(0).pid, 7);
  EXPECT_EQ(use.processes->at(0).used_bytes, 100U);
  EXPECT_EQ(use.processes->at(1).used_bytes, std::nullopt);
}

TEST_F(RealDevicesTest, know_by_nvml_what_costs_nothing_and_by_the_driver_the_rest) {
  setenv("FAKE_CUDA", "no_pools=1 peers=01", 1);
  const auto list = open("gpus=2 long_uuids=1 mode=3");
  ASSERT_NE(list, nullptr) << why_none_;
  const auto by_nvml = list->facts(0, AskDriver::no);
  EXPECT_EQ(by_nvml.sm, 90U);
  EXPECT_EQ(by_nvml.compute_mode, policy::ComputeMode::exclusive_process);
  EXPECT_EQ(by_nvml.memory_pools, std::nullopt);
  EXPECT_FALSE(by_nvml.peers);
  EXPECT_TRUE(by_nvml.lists_processes);
  EXPECT_EQ(list->facts(0, AskDriver::yes).memory_pools, true);
  EXPECT_EQ(list->facts(0, AskDriver::yes).peers, (std::vector<std::size_t>{1}));
  EXPECT_EQ(list->facts(1, AskDriver::yes).memory_pools, false);
  setenv("FAKE_CUDA", "init=100", 1);
  EXPECT_EQ(list->facts(1, AskDriver::yes).memory_pools, false) << "it is asked only once";
  EXPECT_EQ(open("gpus=1 long_uuids=1")->facts(0, AskDriver::yes).why_unknown,
            "cuInit() answers CUDA_ERROR_NO_DEVICE (100)");
  unsetenv("FAKE_CUDA");
}

TEST_F(RealDevicesTest, that_share_the_hosts_memory_have_what_the_host_has_available) {
  const auto host = os::read_host_memory();
  ASSERT_TRUE(host);
  const auto list = open("memory=3");
  ASSERT_NE(list, nullptr) << why_none_;
  ASSERT_EQ(list->devices().size(), 1U) << why_none_;
  EXPECT_TRUE(list->facts(0, AskDriver::no).shares_host_memory);
  EXPECT_EQ(list->devices()[0].total, Bytes{host->total_bytes});
  EXPECT_GT(list->memory(0).used_bytes, 0U);
  EXPECT_LT(list->memory(0).used_bytes, host->total_bytes);
  EXPECT_FALSE(open("")->facts(0, AskDriver::no).shares_host_memory);
}

TEST_F(RealDevicesTest, on_a_numa_node_have_what_is_free_there_or_caches_files) {
  const auto node = os::read_node_memory(0);
  if (!node) {
    GTEST_SKIP() << "no memory of NUMA node 0 in /sys";
  }
  const auto larger = (node->total_bytes >> 30U) + 1;
  const auto list = open(("numa=0 used=1000 gib=" + std::to_string(larger)).c_str());
  ASSERT_NE(list, nullptr) << why_none_;
  EXPECT_EQ(list->devices()[0].total, Bytes{larger << 30U});
  EXPECT_FALSE(list->facts(0, AskDriver::no).shares_host_memory);
  EXPECT_GT(list->memory(0).used_bytes, 1000U);
  EXPECT_LT(list->memory(0).used_bytes, node->total_bytes);
  EXPECT_EQ(open("slices=1 numa=0 used=1000")->memory(0).used_bytes, 1000U) << "a slice has a part of it";
  EXPECT_EQ(open("numa=100000 used=1000")->memory(0).used_bytes, 1000U) << "no such node";
}

TEST_F(RealDevicesTest, have_no_room_once_they_are_lost) {
  const auto list = open("gpus=2 used=1000");
  ASSERT_NE(list, nullptr) << why_none_;
  setenv("FAKE_NVML", "gpus=2 used=1000 lost=1", 1);
  EXPECT_EQ(list->memory(1).used_bytes, (total - reserved).count());
  EXPECT_FALSE(list->memory(1).processes);
  EXPECT_EQ(list->memory(0).used_bytes, 1000U);
}

TEST_F(RealDevicesTest, say_why_there_are_none) {
  EXPECT_EQ(open("init=9"), nullptr);
  EXPECT_EQ(why_none_, "NVML: Driver Not Loaded (9); load the NVIDIA kernel module");

  auto list = open("gpus=0");
  ASSERT_NE(list, nullptr);
  EXPECT_TRUE(list->devices().empty());
  EXPECT_EQ(why_none_, "the NVIDIA driver (driver 999.1) shows no GPU");

  list = open("gpus=1 lost=0");
  ASSERT_NE(list, nullptr);
  EXPECT_TRUE(list->devices().empty());
  EXPECT_EQ(why_none_, "GPU 0 cannot be used: GPU is lost (15)");
}

} // namespace
} // namespace gputest::devices
