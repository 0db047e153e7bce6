// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputest::policy {

/// Applies a CUDA_VISIBLE_DEVICES value to the machine's devices, as CUDA does: indices into `uuids`, in the user's
/// order.
///
/// Knows ordinals (in the order of `uuids`), `GPU-` and `MIG-` UUIDs and their unambiguous prefixes, `SIM-` ones of
/// simulated devices, and stops at the first entry that names nothing (`-1`, an unknown one, a UUID among ordinals), as
/// CUDA stops there. A device named twice leaves none, as in CUDA. An unset variable allows all, an empty one none.
[[nodiscard]] std::vector<std::size_t> visible_devices(const std::optional<std::string>& value,
                                                       const std::vector<std::string>& uuids);

/// CTest's own allocation: the ids of the resource types `gpus` and `cudagpu` of all groups, in order, each once.
///
/// `group_count` and `groups` are CTEST_RESOURCE_GROUP_COUNT and the values of CTEST_RESOURCE_GROUP_<i>_GPUS and
/// _CUDAGPU. Each id is an index into the devices or a UUID with `-` as `_` in lower case (CTest allows no other
/// letters). nullopt without an allocation. Throws InvalidSetting for an id that names no device, listing those there
/// are.
[[nodiscard]] std::optional<std::vector<std::size_t>> ctest_allocation(const std::optional<std::string>& group_count,
                                                                       const std::vector<std::string>& groups,
                                                                       const std::vector<std::string>& uuids);

/// One such value for a process to which CUDA shows only `shown` of `uuids`, in that order:
/// an id that is a number is the one that CUDA has for the device then. That of a device which is not shown becomes 0:
/// each rank of an MPI program has one device, and reads the same groups. Other ids stay.
[[nodiscard]] std::string renumbered_group(const std::string& group, const std::vector<std::string>& uuids,
                                           const std::vector<std::string>& shown);

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
