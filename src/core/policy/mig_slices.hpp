// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace gputest::policy {

/// Some of the machine's devices, and which of them are MIG slices.
///
/// CUDA gives a process one MIG slice and no other device in addition, even if CUDA_VISIBLE_DEVICES lists more.
struct DeviceKinds {
  std::vector<std::size_t> whole;
  std::vector<std::size_t> slices;
};

/// How many of them one process can have.
[[nodiscard]] std::size_t max_for_a_process(const DeviceKinds& devices);

/// Those among which a process that wants so many can be placed, in the order of `all`: for several the whole GPUs.
[[nodiscard]] std::vector<std::size_t> candidates_for(const DeviceKinds& devices, const std::vector<std::size_t>& all,
                                                      std::size_t wanted);

/// Those that CUDA shows a process to which the list `visible` is visible: a slice only alone.
[[nodiscard]] std::vector<std::size_t> shown_by_cuda(const DeviceKinds& devices, std::vector<std::size_t> visible);

} // namespace gputest::policy
