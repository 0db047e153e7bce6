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
  std::vector<std::size_t> indices; ///< of these, CTest's own allocation if there is one, in its order
  std::string restriction;          ///< what restricts it, for messages: `CUDA_VISIBLE_DEVICES='0'`
  std::string note;                 ///< why they are fewer than CTest was asked for; empty if they are not
};

/// Follows the settings for CUDA_VISIBLE_DEVICES, Slurm and CTest. Throws InvalidSetting if CTest's allocation names a
/// device that does not exist.
[[nodiscard]] AllowedDevices allowed_devices(const devices::DeviceList& machine, const Settings& settings);

} // namespace gputest::session
