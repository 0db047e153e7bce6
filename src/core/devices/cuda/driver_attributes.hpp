// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::devices {

/// What the CUDA driver itself says of one device.
struct DriverAttributes {
  std::string uuid; ///< as NVML writes it
  unsigned sm = 0;  ///< compute capability, 90 for 9.0
  bool memory_pools = false;
  bool managed_memory = false;
  bool concurrent_managed_access = false;
  bool cooperative_launch = false;
  bool integrated = false;
  std::vector<std::string> peers; ///< those of the asked devices whose memory it can reach
};

/// Asks the driver about the devices with these UUIDs. Creates no context, and does not initialise CUDA in this
/// process.
///
/// In a process that has initialised CUDA already it asks there, about what that process sees. Elsewhere a forked child
/// does, since a device chosen after cuInit() is chosen too late: about 100 ms a device (H200), and longer than
/// half a minute never. Devices that could not be asked about are missing from the result, and `why` says why.
[[nodiscard]] std::vector<DriverAttributes> ask_driver(const std::vector<std::string>& uuids, std::string& why);

} // namespace gputest::devices
