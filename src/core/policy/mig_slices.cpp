// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/mig_slices.hpp"

#include <algorithm>

namespace gputest::policy {

namespace {

bool is_slice(const DeviceKinds& devices, std::size_t index) {
  return std::find(devices.slices.begin(), devices.slices.end(), index) != devices.slices.end();
}

} // namespace

std::size_t max_for_a_process(const DeviceKinds& devices) {
  return devices.whole.empty() && !devices.slices.empty() ? 1 : devices.whole.size();
}

std::vector<std::size_t> candidates_for(const DeviceKinds& devices, const std::vector<std::size_t>& all,
                                        std::size_t wanted) {
  return wanted > 1 ? devices.whole : all;
}

std::vector<std::size_t> shown_by_cuda(const DeviceKinds& devices, std::vector<std::size_t> visible) {
  if (!visible.empty() && is_slice(devices, visible.front())) {
    return {visible.front()};
  }
  visible.erase(
      std::remove_if(visible.begin(), visible.end(), [&](std::size_t index) { return is_slice(devices, index); }),
      visible.end());
  return visible;
}

} // namespace gputest::policy
