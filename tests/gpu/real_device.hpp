// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the tests of a real GPU share: claims that run in a process of their own, and NVML's view of what they do.

#include "core/devices/cuda/cuda_driver.hpp"

#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace gputest::tests {

inline constexpr std::uint64_t mib = 1ULL << 20U;
inline constexpr std::uint64_t gib = 1ULL << 30U;

// Room for what the driver takes and gives back by itself between two looks, far below what the tests move.
inline constexpr std::uint64_t slack_bytes = 64 * mib;

inline void require(bool holds, const std::string& claim) {
  if (!holds) {
    throw std::runtime_error{claim};
  }
}

inline void check(cudaError_t error) {
  require(error == cudaSuccess, std::string{"a CUDA call answered "} + cudaGetErrorName(error));
}

inline std::unique_ptr<devices::DeviceList> open_nvml() {
  std::string why;
  auto nvml = devices::open_real(why);
  require(nvml != nullptr, why);
  return nvml;
}

/// One of CUDA's devices as NVML writes UUIDs.
inline std::string uuid_of_device(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal));
  std::string uuid = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(properties.uuid.bytes[i]));
    uuid += (i == 4 || i == 6 || i == 8 || i == 10) ? std::string{"-"} + byte : byte;
  }
  return uuid;
}

inline std::size_t index_of(const devices::DeviceList& nvml, const std::string& uuid) {
  for (std::size_t i = 0; i < nvml.devices().size(); ++i) {
    if (nvml.devices()[i].uuid == uuid) {
      return i;
    }
  }
  throw std::runtime_error{"NVML does not show " + uuid};
}

/// NVML's view of the one device that this process uses.
class View {
public:
  View() : nvml_{open_nvml()} {}

  /// CUDA's device 0; creates its context.
  void use_device_0() {
    check(cudaFree(nullptr));
    index_ = index_of(*nvml_, uuid_of_device(0));
  }

  [[nodiscard]] const Device& device() const { return nvml_->devices().at(index_); }
  [[nodiscard]] std::uint64_t reserved() const { return nvml_->reserved_bytes(index_); }
  [[nodiscard]] std::uint64_t used() const { return nvml_->used_bytes(index_); }

  /// The bytes that any device lists for this process, 0 if it is listed nowhere.
  [[nodiscard]] std::uint64_t own_bytes() const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < nvml_->devices().size(); ++i) {
      const auto processes = nvml_->memory(i).processes;
      require(processes.has_value(), "NVML lists processes");
      for (const auto& process : *processes) {
        if (process.pid == getpid()) {
          require(process.used_bytes.has_value(), "NVML says how much this process uses");
          bytes += *process.used_bytes;
        }
      }
    }
    return bytes;
  }

private:
  std::unique_ptr<devices::DeviceList> nvml_;
  std::size_t index_ = 0;
};

inline bool about(std::uint64_t a, std::uint64_t b) { return (a < b ? b - a : a - b) <= slack_bytes; }

/// Runs a claim and ends the process: 0 if it holds, else 1 with the reason on stderr.
[[noreturn]] inline void run(void (*claim)()) {
  try {
    claim();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "does not hold: %s\n", failure.what());
    std::exit(1);
  }
  std::exit(0);
}

/// Skips where there is no GPU, or fails where one is required.
class RealDeviceDeathTest : public ::testing::Test {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // a new process, in which CUDA was never used
    std::string why;
    const auto nvml = devices::open_real(why);
    if (nvml && !nvml->devices().empty()) {
      return;
    }
    const char* require_gpu = std::getenv("GPUTEST_REQUIRE_GPU");
    if (require_gpu != nullptr && std::string{require_gpu} == "1") {
      FAIL() << "no GPU, and GPUTEST_REQUIRE_GPU=1: " << why;
    }
    GTEST_SKIP() << "no GPU: " << why;
  }
};

} // namespace gputest::tests

/// A claim, which a process of its own shows: the body is that of a function, of which the test is told whether it
/// threw.
#define CLAIM(suite, name)                                                                                             \
  void name();                                                                                                         \
  TEST_F(suite, name) { EXPECT_EXIT(::gputest::tests::run(name), ::testing::ExitedWithCode(0), ""); }                  \
  void name()
