// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_nvml.cpp, which the executable's run path names.
#include "core/devices/device_list.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace gputest::devices {
namespace {

class DeviceListTest : public ::testing::Test {
protected:
  ~DeviceListTest() override { unsetenv("FAKE_NVML"); }

  std::string why_none_ = "left from before";
  Settings settings_;
};

TEST_F(DeviceListTest, is_empty_with_the_setting_as_the_reason_where_none_is_asked_for) {
  settings_.devices = "none";
  const auto list = open_devices(settings_, why_none_);
  ASSERT_NE(list, nullptr);
  EXPECT_TRUE(list->devices().empty());
  EXPECT_EQ(why_none_, "GPUTEST_DEVICES=none asks for none");
  EXPECT_EQ(list->origin(), "no devices");
}

TEST_F(DeviceListTest, is_empty_with_nvmls_reason_where_there_is_no_driver) {
  setenv("FAKE_NVML", "init=9", 1);
  settings_.devices = "all";
  const auto list = open_devices(settings_, why_none_);
  ASSERT_NE(list, nullptr);
  EXPECT_TRUE(list->devices().empty());
  EXPECT_EQ(why_none_, "NVML: Driver Not Loaded (9); load the NVIDIA kernel module");
}

TEST_F(DeviceListTest, makes_every_decision_as_on_smaller_devices_where_that_is_asked) {
  setenv("FAKE_NVML", "gpus=1 used=1000 mode=3", 1);
  settings_.devices = "all";
  settings_.device_memory = Bytes{8ULL << 30U};
  const auto list = open_devices(settings_, why_none_);
  EXPECT_EQ(list->devices().at(0).total, Bytes{8ULL << 30U});
  EXPECT_EQ(list->devices().at(0).uuid, "GPU-fake-0");
  EXPECT_EQ(list->set_aside_bytes(0), 72ULL << 30U);
  EXPECT_EQ(list->memory(0).used_bytes, 1000U);
  EXPECT_EQ(list->facts(0, AskDriver::no).compute_mode, policy::ComputeMode::exclusive_process);
  EXPECT_EQ(list->origin(), "driver 999.1");
  EXPECT_EQ(list->reserved_bytes(0), 512ULL << 20U);
  EXPECT_EQ(list->usual_overhead_bytes(0), 768ULL << 20U);
  EXPECT_EQ(list->usable_bytes(0), Bytes{(8ULL << 30U) - (512ULL << 20U)});
  settings_.device_memory = Bytes{100ULL << 30U};
  EXPECT_EQ(open_devices(settings_, why_none_)->devices().at(0).total, Bytes{80ULL << 30U}) << "none becomes larger";
  EXPECT_EQ(open_devices(settings_, why_none_)->set_aside_bytes(0), 0U);
}

TEST_F(DeviceListTest, is_of_a_lease_only_where_nothing_but_its_devices_is_visible) {
  setenv("FAKE_NVML", "gpus=3", 1);
  const std::vector<Device> described{{"GPU-fake-2", "Fake GPU", Bytes{80ULL << 30U}, false},
                                      {"GPU-fake-1", "Fake GPU", Bytes{80ULL << 30U}, false}};
  const auto is_opened = [&](const char* devices, const std::optional<std::string>& visible) {
    settings_.devices = devices;
    settings_.visible_devices.reset();
    if (visible) {
      settings_.visible_devices = DeviceRestriction{"CUDA_VISIBLE_DEVICES", *visible};
    }
    return open_leased(settings_, described) != nullptr;
  };
  EXPECT_TRUE(is_opened("all", "GPU-fake-1"));
  EXPECT_TRUE(is_opened("all", "GPU-fake-2,GPU-fake-1"));
  EXPECT_FALSE(is_opened("all", std::nullopt)) << "all devices of the machine are visible";
  EXPECT_FALSE(is_opened("all", "GPU-fake-2,GPU-fake-0"));
  EXPECT_FALSE(is_opened("all", "1"));
  EXPECT_FALSE(is_opened("all", "GPU-fake"));
  EXPECT_FALSE(is_opened("simulated:1x1GiB", "GPU-fake-1"));
  EXPECT_FALSE(is_opened("none", "GPU-fake-1"));
  settings_.devices = "all";
  settings_.visible_devices = DeviceRestriction{"CUDA_VISIBLE_DEVICES", "GPU-fake-1"};
  EXPECT_EQ(open_leased(settings_, {}), nullptr) << "the lease's holder has described none";
  settings_.visible_devices = DeviceRestriction{"CUDA_VISIBLE_DEVICES", ""};
  EXPECT_EQ(open_leased(settings_, {}), nullptr) << "that is no list of a lease's devices";
}

TEST_F(DeviceListTest, asks_nvml_for_each_device_of_a_lease_itself) {
  setenv("FAKE_NVML", "gpus=2 gib=80,8 sm=75,90 used=1000 compute=7:100", 1);
  settings_.devices = "all";
  settings_.visible_devices = DeviceRestriction{"CUDA_VISIBLE_DEVICES", "GPU-fake-1,GPU-fake-0"};
  const auto list = open_leased(settings_, {{"GPU-fake-1", "Fake GPU", Bytes{8ULL << 30U}, false},
                                            {"GPU-fake-0", "Fake GPU", Bytes{80ULL << 30U}, false}});
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->usual_overhead_bytes(0), 512ULL << 20U);
  EXPECT_EQ(list->usual_overhead_bytes(1), 768ULL << 20U);
  EXPECT_EQ(list->reserved_bytes(1), 512ULL << 20U);
  EXPECT_EQ(list->facts(0, AskDriver::no).sm, 90U);
  EXPECT_EQ(list->facts(1, AskDriver::no).sm, 75U);
  EXPECT_EQ(list->origin(), "driver 999.1");
  setenv("FAKE_NVML", "gpus=2 gib=80,8 used=1000 compute=7:100 lost=0", 1);
  const auto use = list->memory(0);
  EXPECT_EQ(use.used_bytes, 1000U);
  ASSERT_TRUE(use.processes);
  EXPECT_EQ(use.processes->at(0).pid, 7);
  EXPECT_FALSE(list->memory(1).processes) << "that one is lost";
}

} // namespace
} // namespace gputest::devices
