#pragma once

#include "devices/device_list.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::session {

/// Which of the machine's devices this process may use. Devices are named by their place in the list.
struct AllowedDevices {
  std::vector<std::size_t> visible; ///< by CUDA_VISIBLE_DEVICES or Slurm, in its order, or else in the machine's
  std::vector<std::size_t> indices; ///< of these, CTest's own allocation if there is one, in its order
  std::string restriction;          ///< what restricts it, for messages: `CUDA_VISIBLE_DEVICES='0'`
  std::string note;                 ///< why they are fewer than CTest was asked for; empty if they are not
};

/// Looks at CUDA_VISIBLE_DEVICES, Slurm's and CTest's variables. Throws InvalidSetting if CTest's allocation names a
/// device that there is not.
[[nodiscard]] AllowedDevices allowed_devices(const devices::DeviceList& machine);

} // namespace gputest::session
