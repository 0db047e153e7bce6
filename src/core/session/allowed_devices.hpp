// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"

#include <gputest/settings.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::session {

/// The machine's devices that this process may use, as positions in the machine's list.
struct AllowedDevices {
  std::vector<std::size_t> visible; ///< by CUDA_VISIBLE_DEVICES or Slurm, in its order, or else in the machine's
  std::vector<std::string> counted; ///< the UUIDs of those that the numbers of CTest's allocation count
  std::vector<std::size_t> indices; ///< of these, CTest's own allocation if there is one, in its order
  std::string restriction;          ///< what restricts it, for messages: `CUDA_VISIBLE_DEVICES='0'`
  std::string note;                 ///< why they are fewer than CTest was asked for; empty if they are not
};

/// Follows the settings for CUDA_VISIBLE_DEVICES, Slurm and CTest. Throws InvalidSetting if CTest's allocation names a
/// device that does not exist.
[[nodiscard]] AllowedDevices allowed_devices(const devices::DeviceList& machine, const Settings& settings);

/// Makes only these visible to CUDA, if it has not started yet in this process, and to the processes that this one
/// starts. CTest's own allocation names them by their new numbers from then on, unless keep_allocation() was called:
/// then GPUTEST_ALLOCATION says which devices its numbers count. Not thread-safe.
///
/// `counted`: as AllowedDevices::counted.
void show_only(const std::vector<std::string>& uuids, const std::vector<std::string>& counted);

/// CTest's allocation keeps its numbers in this process and those it starts, whatever show_only() shows. Not
/// thread-safe.
void keep_allocation();

/// As the last show_only(), for CTest's allocation, which is set anew for each case of a worker. Not thread-safe.
void renumber_allocation();

} // namespace gputest::session
