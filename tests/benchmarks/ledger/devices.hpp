// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "ledger_lock.hpp"

#include <memory>
#include <string>

namespace gputest::benchmarks {

/// The devices that experiments with real ones use: the machine's GPUs, what GPUTEST_DEVICES says, or a simulated GPU
/// where there is none.
class Devices {
public:
  /// Opens no driver in this process, so that those that it forks can.
  explicit Devices(std::string folder);

  /// For titles: the name of the first device, or that it is simulated.
  [[nodiscard]] const std::string& description() const { return description_; }

  /// In a process of its own: opens the driver. Its looks and calls are recorded. Throws std::runtime_error if there is
  /// no device now.
  [[nodiscard]] std::shared_ptr<const devices::DeviceList> open() const;

  /// Of the first device: leases of more than half of it, so that two exclude each other, by a process without a
  /// context.
  [[nodiscard]] static LedgerUse half(const std::shared_ptr<const devices::DeviceList>& list);

  /// Makes a context on the first device, and keeps it until this process ends. About 0.1 s on a real GPU, 2 s if 16
  /// processes do it at once (H200).
  void make_context(const devices::DeviceList& list) const;

private:
  Settings settings_;
  bool simulated_ = false;
  std::string description_;
};

} // namespace gputest::benchmarks
