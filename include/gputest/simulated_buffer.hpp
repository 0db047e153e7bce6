// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>

#include <cstdint>

namespace gputest {

/// Memory of a simulated device (`GPUTEST_DEVICES=simulated:…`): counted across all processes of the machine, never
/// touched.
///
/// Works with and without gputest's GoogleTest classes, so that a suite can be compared with and without them. Any
/// thread may take and give back memory, but two threads must not use one object at the same time. Both block for
/// microseconds if other processes do the same.
class SimulatedBuffer {
public:
  SimulatedBuffer() = default;

  /// Takes `size` bytes of the process's simulated device number `index`, and the process's context on first use.
  ///
  /// Throws OutOfMemory, with what is used and by how many processes, if they do not fit; InvalidSetting if the devices
  /// are not simulated or there is no such one; LedgerError if the file that counts the memory cannot be used. Does not
  /// wait for memory.
  explicit SimulatedBuffer(Bytes size, int index = 0);

  SimulatedBuffer(SimulatedBuffer&& other) noexcept;
  SimulatedBuffer& operator=(SimulatedBuffer&& other) noexcept;
  SimulatedBuffer(const SimulatedBuffer&) = delete;
  SimulatedBuffer& operator=(const SimulatedBuffer&) = delete;
  ~SimulatedBuffer();

  [[nodiscard]] Bytes size() const { return size_; }

private:
  Bytes size_;
  int index_ = 0;
  std::uint64_t id_ = 0; ///< by which the process counts it
};

/// Whether this process's devices are simulated ones, as GPUTEST_DEVICES says. Throws InvalidSetting if that is
/// unusable.
[[nodiscard]] bool devices_are_simulated();

} // namespace gputest
