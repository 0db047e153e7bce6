// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/capability.hpp>
#include <gputest/device.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {

/// Where a device's memory is: on the device alone, in the host's memory, or on a NUMA node of its own, on which the
/// host allocates and caches files too (GH200, GB200).
enum class MemoryPlace { device, host, numa_node };

/// Decides by what the driver says of the device's memory (0: it does not say), by the host's total, and by that of the
/// NUMA node which the driver names, if it names one. Pure.
[[nodiscard]] MemoryPlace memory_place(std::uint64_t total_bytes, std::uint64_t reserved_bytes,
                                       std::uint64_t host_bytes, std::optional<std::uint64_t> node_bytes);

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
  int processes_allowed = 0;       ///< by GPUTEST_PROCESSES_PER_DEVICE; 0: any number
  bool lost = false;               ///< it does not answer
  bool shares_host_memory = false; ///< an integrated GPU: its memory is the host's
  bool lists_processes = true;     ///< whether the driver lists the processes that use it
  std::string why_unknown;         ///< why the driver could not be asked, if it was and could not
};

/// Why no process can use the device, and what to do about it; empty if one can.
[[nodiscard]] std::string why_unusable(const DeviceFacts& facts);

/// How many processes may use the device at once; 0: any number.
[[nodiscard]] int most_processes(const DeviceFacts& facts);

/// A device as what is required is held against it.
struct Candidate {
  Device device;
  DeviceFacts facts;
  Bytes free; ///< what the device has, less what external processes hold of it now
};

/// Whether only the driver's own attributes can tell if a device has what is required.
[[nodiscard]] bool needs_driver(const Capabilities& required, const DeviceFacts& facts);

/// What a device has in place of what is required, `no memory_pools, sm_75`; empty if it has all of it. Pure.
///
/// What is not known counts as missing. Peer access is between devices: see why_not().
[[nodiscard]] std::string lacking(const Capabilities& required, const Candidate& candidate);

/// Why these devices cannot serve a test that requires this, as a sentence with both sides; empty if they can. Pure.
///
/// `indices` are the devices' places in the list that DeviceFacts::peers counts in.
[[nodiscard]] std::string why_not(const Capabilities& required, const std::vector<Candidate>& candidates,
                                  const std::vector<std::size_t>& indices);

/// The largest set of the devices that can all reach one another's memory, in order; the first of equal ones. Pure.
[[nodiscard]] std::vector<std::size_t> largest_peer_group(const std::vector<std::size_t>& indices,
                                                          const std::vector<DeviceFacts>& facts);

} // namespace gputest::policy
