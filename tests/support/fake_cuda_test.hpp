// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/fake_cuda.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include <dlfcn.h>

namespace gputest::tests {

/// A process that has loaded libcuda.so.1, as the CUDA runtime does; here the fake one, fresh, with two devices.
/// Nothing says which of them it may use, or what NVML shows.
class FakeCudaTest : public ::testing::Test {
protected:
  FakeCudaTest() { unset(); }
  ~FakeCudaTest() override { unset(); }

  void SetUp() override {
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    const auto look_up = reinterpret_cast<FakeCuda* (*)()>(dlsym(library_, "fake_cuda"));
    ASSERT_NE(look_up, nullptr) << "this is not the fake driver";
    cuda_ = look_up();
    *cuda_ = FakeCuda{};
    cuda_->initialised = true;
    cuda_->devices = 2;
  }

  void TearDown() override {
    if (library_ != nullptr) {
      dlclose(library_);
    }
  }

  FakeCuda::Device& device(std::size_t ordinal) { return cuda_->device.at(ordinal); }

  void* library_ = nullptr;
  FakeCuda* cuda_ = nullptr;

private:
  static void unset() {
    for (const char* name : {"FAKE_NVML", "CUDA_VISIBLE_DEVICES", "GPUTEST_LEASE_OF"}) {
      unsetenv(name);
    }
  }
};

} // namespace gputest::tests
