#pragma once

#include "devices/device_list.hpp"

#include <cstddef>
#include <vector>

namespace gputest::session {

/// Indices of the machine's devices that this process may use, in CUDA's order: those that CUDA_VISIBLE_DEVICES leaves,
/// and of these CTest's own allocation if there is one. Throws InvalidSetting if that names a device there is not.
[[nodiscard]] std::vector<std::size_t> allowed_devices(const devices::DeviceList& machine);

} // namespace gputest::session
