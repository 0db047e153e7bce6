// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {

/// How many processes a device lets in, as `nvidia-smi -c` sets it.
enum class ComputeMode { usual, exclusive_process, prohibited };

/// How Windows drives a device; `none` if it does not.
enum class DriverModel { none, tcc, wddm };

/// What is known of one device apart from its memory; nullopt if not asked for, or not known.
struct DeviceFacts {
  std::optional<unsigned> sm; ///< compute capability, 90 for 9.0
  std::optional<bool> memory_pools;
  std::optional<bool> managed_memory;
  std::optional<bool> concurrent_managed_access;
  std::optional<bool> cooperative_launch;
  std::optional<std::vector<std::size_t>> peers; ///< indices of the devices whose memory it can reach
  DriverModel driver_model = DriverModel::none;
  bool mig = false; ///< it is a slice
  ComputeMode compute_mode = ComputeMode::usual;
  bool lost = false;               ///< it does not answer
  bool shares_host_memory = false; ///< an integrated GPU: its memory is the host's
  bool lists_processes = true;     ///< whether the driver lists the processes that use it
  std::string why_unknown;         ///< why the driver could not be asked, if it was and could not
};

/// `default`, `EXCLUSIVE_PROCESS`, `PROHIBITED`.
[[nodiscard]] std::string to_string(ComputeMode mode);

/// `TCC`, `WDDM`, `-`.
[[nodiscard]] std::string to_string(DriverModel model);

/// Why no process can use the device, and what to do about it; empty if one can.
[[nodiscard]] std::string why_unusable(const DeviceFacts& facts);

/// What is odd about a device that can be used, and what is done about it; one sentence each.
[[nodiscard]] std::vector<std::string> oddities(const DeviceFacts& facts);

} // namespace gputest::policy
