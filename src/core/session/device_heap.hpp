// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/this_process.hpp"

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

  /// Records the sizes that the tests of this process will ask for, as far as known.
  void expect(const std::vector<Bytes>& heaps);

  /// What the largest of these sizes takes of a device.
  [[nodiscard]] Bytes cost() const;

  /// Sets the heap of those of the first `gpus` devices where it is not set yet, before a test's first kernel. Creates
  /// their contexts.
  ///
  /// A test that asks for none gets the size that all others ask for; otherwise its kernels could prevent setting
  /// theirs. Returns why the test `who` cannot get the size that it asks for, or nothing.
  [[nodiscard]] std::string prepare(Bytes heap, const std::vector<Device>& devices, int gpus, const std::string& who);

private:
  [[nodiscard]] std::string is_set_already(Bytes heap, const std::string& who) const;

  devices::ThisProcess* process_;
  std::vector<Bytes> expected_; ///< each size once
  Bytes size_;                  ///< 0: not set
  std::string set_for_;
  int devices_set_ = 0;
};

} // namespace gputest::session
