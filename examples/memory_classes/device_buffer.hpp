// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

/// What DeviceBuffer stands on: memory of a real device or of a simulated one.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;
  virtual std::uint64_t exercise(std::chrono::milliseconds duration) = 0;
};

/// Memory of one device. Which kind is decided at run time, by gputest::devices_are_simulated().
class DeviceBuffer {
public:
  /// Takes `size` bytes of device `index`. Throws gputest::OutOfMemory if they do not fit; never waits for them.
  explicit DeviceBuffer(gputest::Bytes size, int index = 0);

  /// Fills the memory and verifies it, at least once and for about `duration`; returns how many words were wrong.
  ///
  /// Simulated memory has no words: the call only holds it for `duration`, which stands for the time of the kernels.
  [[nodiscard]] std::uint64_t exercise(std::chrono::milliseconds duration) { return memory_->exercise(duration); }

private:
  std::unique_ptr<DeviceMemory> memory_;
};

/// How many devices this process can use.
[[nodiscard]] int device_count();
