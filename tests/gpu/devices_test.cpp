// SPDX-License-Identifier: BSD-3-Clause
// Which devices a process gets, on real GPUs: a suite that gputest itself runs.
#include "real_device.hpp"

#include <gputest/gputest.hpp>

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using namespace gputest::tests; // NOLINT(google-build-using-namespace): what all of these tests share

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/// With USE_EARLY=1, a context on the last device, made before main().
const int early = [] {
  if (std::getenv("USE_EARLY") == nullptr || device_count() == 0) {
    return -1;
  }
  const int last = device_count() - 1;
  return cudaSetDevice(last) == cudaSuccess && cudaFree(nullptr) == cudaSuccess ? last : -1;
}();

TEST(Several, are_two_and_in_the_order_of_current_devices) {
  ASSERT_EQ(device_count(), 2);
  ASSERT_EQ(gputest::current_devices().size(), 2U);
  for (int ordinal = 0; ordinal < 2; ++ordinal) {
    EXPECT_EQ(uuid_of_device(ordinal), gputest::current_devices()[static_cast<std::size_t>(ordinal)].uuid);
    void* memory = nullptr;
    check(cudaSetDevice(ordinal));
    check(cudaMalloc(&memory, gib));
    check(cudaFree(memory));
  }
}

TEST(Early, is_claimed_where_the_context_is) {
  ASSERT_GE(early, 0) << "set USE_EARLY=1";
  ASSERT_EQ(gputest::current_devices().size(), 1U);
  EXPECT_EQ(gputest::current_devices()[0].uuid, uuid_of_device(early));
}

/// Makes all GPUs visible, this process's own first; whether there is a second one.
bool show_all_gpus() {
  const auto nvml = open_nvml();
  const std::string& own = gputest::current_devices()[0].uuid;
  std::string all = own;
  for (const auto& device : nvml->devices()) {
    all += device.uuid == own ? "" : "," + device.uuid;
  }
  setenv("CUDA_VISIBLE_DEVICES", all.c_str(), 1);
  return nvml->devices().size() > 1;
}

/// Fails by what gputest finds after it.
TEST(Stray, has_a_context_on_a_device_not_given) {
  if (!show_all_gpus()) {
    GTEST_SKIP() << "needs a second GPU";
  }
  check(cudaSetDevice(1));
  check(cudaFree(nullptr));
}

TEST(Visible, is_no_context) {
  if (!show_all_gpus()) {
    GTEST_SKIP() << "needs a second GPU";
  }
  check(cudaSetDevice(0));
  check(cudaFree(nullptr));
  EXPECT_GT(device_count(), 1);
}

} // namespace
