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
  EXPECT_EQ(list->facts(0, AskDriver::no).processes_allowed, 0);
  settings_.processes_per_device = 4;
  EXPECT_EQ(open_devices(settings_, why_none_)->facts(0, AskDriver::no).processes_allowed, 4);
  settings_.device_memory = Bytes{100ULL << 30U};
  EXPECT_EQ(open_devices(settings_, why_none_)->devices().at(0).total, Bytes{80ULL << 30U}) << "none becomes larger";
  EXPECT_EQ(open_devices(settings_, why_none_)->set_aside_bytes(0), 0U);
}

TEST(DeviceState, names_the_first_difference) {
  const DeviceState before{0, {{0, {{"a", 1}, {"b", 2}}}}};
  EXPECT_EQ(change_between(before, before), "");
  EXPECT_EQ(change_between(before, {1, before.limits}), "device 1 is the current one, in place of 0");
  EXPECT_EQ(change_between(before, {0, {{0, {{"a", 1}, {"b", 3}}}}}), "b of device 0 is 3, in place of 2");
}

TEST(DeviceState, takes_what_begins_or_ends_for_no_difference) {
  const DeviceState nothing;
  const DeviceState state{1, {{1, {{"a", 1}}}}};
  EXPECT_EQ(change_between(nothing, state), "");
  EXPECT_EQ(change_between(state, nothing), ""); // as after cudaDeviceReset()
  EXPECT_EQ(change_between(state, {1, {{0, {{"a", 2}}}, {1, {{"b", 2}}}}}), "");
}

} // namespace

} // namespace gputest::devices
