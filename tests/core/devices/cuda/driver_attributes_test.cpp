// SPDX-License-Identifier: BSD-3-Clause
// Runs against tests/support/fake_cuda_attributes.cpp, which the executable's run path names.
#include "core/devices/cuda/driver_attributes.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "support/fake_cuda.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstdlib>

namespace gputest::devices {
namespace {

using Uuids = std::vector<std::string>;

std::string gpu(int index) { return "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(index); }
std::string slice(int index) { return "MIG-00000000-0000-0000-0000-00000000000" + std::to_string(index); }

class DriverAttributesTest : public ::testing::Test {
protected:
  ~DriverAttributesTest() override { unsetenv("FAKE_CUDA"); }

  std::vector<DriverAttributes> ask(const std::string& driver, const Uuids& uuids) {
    setenv("FAKE_CUDA", driver.c_str(), 1);
    return ask_driver(uuids, why_);
  }

  std::string why_ = "left from before";
};

TEST_F(DriverAttributesTest, are_the_drivers_own) {
  const auto all = ask("sm=75,80,103 no_pools=0", {gpu(0), gpu(1), gpu(2)});
  ASSERT_EQ(all.size(), 3U) << why_;
  EXPECT_EQ(why_, "");
  EXPECT_EQ(all[0].uuid, gpu(0));
  EXPECT_EQ(all[0].sm, 75U);
  EXPECT_EQ(all[1].sm, 80U);
  EXPECT_EQ(all[2].sm, 103U);
  EXPECT_FALSE(all[0].memory_pools);
  EXPECT_TRUE(all[1].memory_pools);
  EXPECT_TRUE(all[0].managed_memory && all[0].concurrent_managed_access);
  EXPECT_FALSE(all[0].cooperative_launch) << "what a driver does not know its devices do not have";
  EXPECT_FALSE(all[0].integrated);
}

TEST_F(DriverAttributesTest, name_the_peers_among_those_asked_about) {
  const auto all = ask("peers=02", {gpu(0), gpu(1), gpu(2)});
  ASSERT_EQ(all.size(), 3U) << why_;
  EXPECT_EQ(all[0].peers, Uuids{gpu(2)});
  EXPECT_EQ(all[1].peers, Uuids{});
  EXPECT_EQ(all[2].peers, Uuids{gpu(0)});
}

TEST_F(DriverAttributesTest, are_asked_without_initialising_or_loading_cuda_here) {
  unsetenv("FAKE_CUDA_WAS_LOADED");
  setenv("CUDA_VISIBLE_DEVICES", "as it was", 1);
  EXPECT_EQ(ask("", {gpu(0)}).size(), 1U) << why_;
  EXPECT_FALSE(cuda_is_initialised());
  EXPECT_EQ(std::getenv("FAKE_CUDA_WAS_LOADED"), nullptr);
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "as it was");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(DriverAttributesTest, of_slices_are_asked_one_by_one) {
  const auto all = ask("slices=1 no_pools=2", {slice(1), slice(2), slice(3)});
  ASSERT_EQ(all.size(), 3U) << why_;
  EXPECT_EQ(all[2].uuid, slice(3));
  EXPECT_FALSE(all[1].memory_pools);
  EXPECT_TRUE(all[2].memory_pools);
}

TEST_F(DriverAttributesTest, are_unknown_with_the_reason_where_the_driver_does_not_answer) {
  EXPECT_TRUE(ask("init=100", {gpu(0)}).empty());
  EXPECT_EQ(why_, "cuInit() answers CUDA_ERROR_NO_DEVICE (100)");
  EXPECT_TRUE(ask("crash=1", {gpu(0)}).empty());
  EXPECT_EQ(why_, "the CUDA driver crashed");
  EXPECT_EQ(ask("hidden=1", {gpu(0), gpu(1)}).size(), 1U);
  EXPECT_EQ(why_, "the CUDA driver does not show " + gpu(1));
}

TEST_F(DriverAttributesTest, are_asked_here_where_cuda_is_initialised_already) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  setenv("CUDA_VISIBLE_DEVICES", gpu(1).c_str(), 1);
  ASSERT_EQ(initialise(0), 0);
  const auto all = ask("init=3", {gpu(0), gpu(1)}); // what a forked child would hear
  ASSERT_EQ(all.size(), 1U) << why_;
  EXPECT_EQ(all[0].uuid, gpu(1));
  EXPECT_EQ(why_, "the CUDA driver does not show " + gpu(0));
  EXPECT_TRUE(cuda_process().sees_only({gpu(1)}));
  EXPECT_FALSE(cuda_process().sees_only({gpu(0)}));
  setenv("CUDA_VISIBLE_DEVICES", (gpu(1) + "," + gpu(2)).c_str(), 1);
  unsetenv("FAKE_CUDA");
  ASSERT_EQ(initialise(0), 0);
  EXPECT_TRUE(cuda_process().sees_only({gpu(2), gpu(0), gpu(1)}));
  EXPECT_FALSE(cuda_process().sees_only({gpu(1)})) << "it sees another besides";
  EXPECT_FALSE(cuda_process().sees_only({gpu(2)}));
  unsetenv("CUDA_VISIBLE_DEVICES");
  *reinterpret_cast<tests::FakeCuda* (*)()>(dlsym(library, "fake_cuda"))() = {};
  dlclose(library);
}

} // namespace
} // namespace gputest::devices
