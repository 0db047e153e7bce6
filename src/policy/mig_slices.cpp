// SPDX-License-Identifier: BSD-3-Clause
#include "policy/mig_slices.hpp"

#include <algorithm>

namespace gputest::policy {

namespace {

bool contains(const std::vector<std::size_t>& indices, std::size_t index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
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
  if (!visible.empty() && contains(devices.slices, visible.front())) {
    return {visible.front()};
  }
  visible.erase(std::remove_if(visible.begin(), visible.end(),
                               [&](std::size_t index) { return contains(devices.slices, index); }),
                visible.end());
  return visible;
}

} // namespace gputest::policy
