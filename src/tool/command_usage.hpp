// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/devices/meter.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace gputest::tool {

/// Measures what a command allocates that is a child of this process, with all that it starts: the most that any sample
/// of the devices' process lists has shown of them together, a lower bound.
class CommandUsage {
public:
  /// `indices` are the devices of the lease.
  CommandUsage(std::shared_ptr<const devices::DeviceList> machine, std::vector<std::size_t> indices);

  /// Reads the devices' process lists. Takes 0.3 to 0.5 ms each (H200).
  void sample();

  /// What was allocated. `device` is the device's place among those of the lease.
  [[nodiscard]] devices::Usage end() const;

  /// What a lease has to have of a device: also the contexts of all processes but one, which gputest adds.
  [[nodiscard]] Bytes needed() const { return needed_; }

private:
  std::shared_ptr<const devices::DeviceList> machine_;
  std::vector<std::size_t> indices_;
  std::vector<Bytes> peaks_; ///< of each device, contexts not counted
  Bytes needed_;
  bool has_list_ = false; ///< whether a device lists processes
};

} // namespace gputest::tool
