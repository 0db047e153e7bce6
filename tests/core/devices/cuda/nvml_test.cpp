// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_nvml.cpp, which the executable's run path names.
#include "core/devices/cuda/cuda_driver.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace gputest::devices {
namespace {

constexpr std::uint64_t gib = 1ULL << 30U;
constexpr std::uint64_t mib = 1ULL << 20U;

class NvmlTest : public ::testing::Test {
protected:
  ~NvmlTest() override { unsetenv("FAKE_NVML"); }

  static void show(const std::string& machine) { setenv("FAKE_NVML", machine.c_str(), 1); }

  std::unique_ptr<DeviceList> open(const std::string& machine) {
    show(machine);
    return open_real(why_);
  }

  [[nodiscard]] static policy::DeviceFacts facts(const DeviceList& nvml, std::size_t index) {
    return nvml.facts(index, AskDriver::no);
  }

  [[nodiscard]] static std::vector<std::string> uuids(const DeviceList& nvml) {
    std::vector<std::string> all;
    for (const auto& device : nvml.devices()) {
      all.push_back(device.uuid);
    }
    return all;
  }

  [[nodiscard]] static std::string listed(const DeviceList& nvml) {
    auto processes = nvml.memory(0).processes;
    if (!processes) {
      return "not listed";
    }
    std::sort(processes->begin(), processes->end(),
              [](const ProcessMemory& a, const ProcessMemory& b) { return a.pid < b.pid; });
    std::string text;
    for (const auto& process : *processes) {
      text += std::to_string(process.pid) + ":" +
              (process.used_bytes ? std::to_string(*process.used_bytes) : std::string{"unknown"}) + " ";
    }
    return text;
  }

  std::string why_ = "not asked";
};

using Uuids = std::vector<std::string>;

TEST_F(NvmlTest, describes_every_gpu) {
  const auto nvml = open("gpus=2");
  ASSERT_TRUE(nvml) << why_;
  EXPECT_EQ(nvml->left_out(), "");
  EXPECT_EQ(uuids(*nvml), (Uuids{"GPU-fake-0", "GPU-fake-1"}));
  EXPECT_EQ(nvml->devices()[1].name, "Fake GPU");
  EXPECT_EQ(nvml->devices()[1].total, Bytes{80 * gib});
  EXPECT_EQ(nvml->reserved_bytes(1), 512 * mib);
  EXPECT_EQ(nvml->origin(), "driver 999.1");
}

TEST_F(NvmlTest, knows_what_kind_of_device_each_is) {
  const auto nvml = open("gpus=2 sm=75,100");
  ASSERT_TRUE(nvml) << why_;
  EXPECT_EQ(facts(*nvml, 0).sm, 75U);
  EXPECT_EQ(facts(*nvml, 1).sm, 100U);
  EXPECT_EQ(facts(*nvml, 0).compute_mode, policy::ComputeMode::usual);
  EXPECT_FALSE(facts(*nvml, 0).mig);
  EXPECT_EQ(facts(*open("mode=2"), 0).compute_mode, policy::ComputeMode::prohibited);
  EXPECT_EQ(facts(*open("mode=3"), 0).compute_mode, policy::ComputeMode::exclusive_process);
  EXPECT_TRUE(facts(*open("slices=1 mode=3"), 0).mig);
  EXPECT_EQ(facts(*open("slices=1 mode=3"), 0).compute_mode, policy::ComputeMode::exclusive_process);
  EXPECT_EQ(facts(*open("mode=1"), 0).compute_mode, policy::ComputeMode::usual) << "of a driver long gone";
}

TEST_F(NvmlTest, keeps_a_gpu_of_which_it_says_no_memory_and_leaves_out_one_that_fails) {
  auto nvml = open("memory=3");
  ASSERT_TRUE(nvml);
  ASSERT_EQ(nvml->devices().size(), 1U) << why_;
  EXPECT_EQ(nvml->reserved_bytes(0), 0U);
  nvml = open("memory=999");
  ASSERT_TRUE(nvml);
  EXPECT_TRUE(nvml->devices().empty());
  EXPECT_EQ(why_, "GPU 0 cannot be used: Unknown Error (999)");
}

TEST_F(NvmlTest, says_why_it_cannot_be_initialised) {
  EXPECT_FALSE(open("init=9"));
  EXPECT_EQ(why_, "NVML: Driver Not Loaded (9); load the NVIDIA kernel module");
  EXPECT_FALSE(open("init=18"));
  EXPECT_EQ(why_,
            "NVML: Driver/library version mismatch (18); the driver was replaced while its old kernel module stayed "
            "loaded: reboot, or reload the module");
  EXPECT_FALSE(open("init=4"));
  EXPECT_EQ(why_, "NVML: Unknown Error (4); this user needs access to /dev/nvidiactl and /dev/nvidia*");
  EXPECT_FALSE(open("init=999"));
  EXPECT_EQ(why_, "NVML: Unknown Error (999)");
}

TEST_F(NvmlTest, leaves_a_lost_gpu_out_and_says_so) {
  const auto nvml = open("gpus=3 lost=1");
  ASSERT_TRUE(nvml);
  EXPECT_EQ(uuids(*nvml), (Uuids{"GPU-fake-0", "GPU-fake-2"}));
  EXPECT_EQ(nvml->left_out(), "GPU 1 cannot be used: GPU is lost (15)");
}

TEST_F(NvmlTest, puts_the_slices_in_the_place_of_a_gpu_in_mig_mode) {
  const auto nvml = open("gpus=2 slices=3");
  ASSERT_TRUE(nvml);
  EXPECT_EQ(uuids(*nvml), (Uuids{"MIG-fake-0", "MIG-fake-1", "MIG-fake-2", "GPU-fake-1"}));
  EXPECT_EQ(nvml->devices()[0].name, "Fake GPU MIG 1g.10gb");
  EXPECT_EQ(nvml->left_out(), "");
}

TEST_F(NvmlTest, names_each_slice_that_cannot_be_used_and_uses_the_others) {
  auto nvml = open("gpus=1 slices=3 lost_slices=0");
  ASSERT_TRUE(nvml);
  EXPECT_EQ(uuids(*nvml), (Uuids{"MIG-fake-1", "MIG-fake-2"}));
  EXPECT_EQ(nvml->left_out(), "MIG slice 1 of GPU 0 cannot be used: GPU is lost (15)");
  nvml = open("gpus=2 slices=3 lost_slices=0,2 lost=1");
  ASSERT_TRUE(nvml);
  EXPECT_EQ(uuids(*nvml), Uuids{"MIG-fake-1"});
  EXPECT_EQ(nvml->left_out(), "MIG slice 1 of GPU 0 cannot be used: GPU is lost (15); MIG slice 5 of GPU 0 cannot be "
                              "used: GPU is lost (15); GPU 1 cannot be used: GPU is lost (15)");
  nvml = open("gpus=1 slices=1 slice_error=15");
  ASSERT_TRUE(nvml);
  EXPECT_EQ(uuids(*nvml), Uuids{});
  EXPECT_EQ(why_, "MIG slice 1 of GPU 0 cannot be used: GPU is lost (15)");
}

TEST_F(NvmlTest, does_not_use_a_gpu_in_mig_mode_without_slices) {
  const auto nvml = open("slices=0");
  ASSERT_TRUE(nvml);
  EXPECT_EQ(uuids(*nvml), Uuids{});
  EXPECT_EQ(why_, "GPU 0 cannot be used: it is in MIG mode and has no slices");
}

TEST_F(NvmlTest, falls_back_to_the_older_memory_query) {
  EXPECT_EQ(open("used=1000")->used_bytes(0), 1000U) << "without what the driver reserves";
  const auto nvml = open("used=1000 memory_v2=13");
  ASSERT_TRUE(nvml) << why_;
  EXPECT_EQ(nvml->devices().at(0).total, Bytes{80 * gib});
  EXPECT_EQ(nvml->reserved_bytes(0), 0U);
  EXPECT_EQ(nvml->used_bytes(0), 1000 + 512 * mib);
}

TEST_F(NvmlTest, lists_each_process_once_with_its_larger_figure) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", ""},
      {"compute=7:100 graphics=8:200 mps=9:300", "7:100 8:200 9:300 "},
      {"compute=7:100,8:- graphics=7:120,8:50,9:- mps=7:90", "7:120 8:50 9:unknown "},
      {"compute=7:-,8:0", "7:unknown 8:0 "},
      {"compute_error=3 graphics=8:200", "not listed"},
      {"compute=7:100 graphics_error=3 mps_error=3", "7:100 "},
      {"compute=7:100 newcomers=5", "7:100 "},
      {"compute=7:100 newcomers=1000000", "not listed"}, // a list without end
  };
  for (const auto& [machine, expected] : rows) {
    SCOPED_TRACE(machine);
    const auto nvml = open(machine);
    ASSERT_TRUE(nvml);
    EXPECT_EQ(listed(*nvml), expected);
  }
}

TEST_F(NvmlTest, lists_many_processes) {
  std::string machine = "compute=1000:1";
  std::string expected = "1000:1 ";
  for (int pid = 1001; pid < 1500; ++pid) {
    machine += "," + std::to_string(pid) + ":1";
    expected += std::to_string(pid) + ":1 ";
  }
  const auto nvml = open(machine);
  ASSERT_TRUE(nvml);
  EXPECT_EQ(listed(*nvml), expected);
}

} // namespace
} // namespace gputest::devices
