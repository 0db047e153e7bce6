// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>

#include <string>
#include <vector>

namespace gputest {

/// One GPU or MIG slice, or a simulated one. It is identified by its UUID, never by an ordinal.
struct Device {
  std::string uuid; ///< as NVML and CUDA write it: `GPU-…` or `MIG-…`; `SIM-…` for a simulated device
  std::string name; ///< the product's name
  Bytes total;      ///< memory of the device, including what the driver reserves for itself
  bool simulated = false;
};

/// The devices chosen for this process, in the order CUDA numbers them (0, 1, …).
///
/// Empty before gputest has chosen, and if there is no usable GPU. The list does not change afterwards and lives as
/// long as the process, so any thread may call it at any time.
/// Does not block.
[[nodiscard]] const std::vector<Device>& current_devices();

} // namespace gputest
