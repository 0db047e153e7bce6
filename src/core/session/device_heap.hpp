// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"

#include <gputest/bytes.hpp>
#include <gputest/device.hpp>

#include <string>
#include <vector>

namespace gputest::session {

/// The heap of this process for `malloc` in kernels: one size for all its tests, because the limit cannot change after
/// such a kernel has run.
class DeviceHeap {
public:
  explicit DeviceHeap(devices::ThisProcess& process) : process_{&process} {}

  /// The largest that a test of this process will ask for, as far as known; 0: none will.
  void expect(Bytes size) { size_ = size; }

  /// What that takes of a device.
  [[nodiscard]] Bytes cost() const;

  /// Sets the largest heap on those of the first `gpus` devices where it is not set yet, before a test's first kernel,
  /// whether that test asks for one (`heap`) or not: its kernels could prevent setting that of others. Creates their
  /// contexts.
  ///
  /// Returns why the test `who` cannot get the size that it asks for, or nothing.
  [[nodiscard]] std::string prepare(Bytes heap, const std::vector<Device>& devices, int gpus, const std::string& who);

private:
  devices::ThisProcess* process_;
  Bytes size_;
  int devices_set_ = 0;
};

} // namespace gputest::session
