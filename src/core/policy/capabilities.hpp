// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/device_facts.hpp"

#include <gputest/capability.hpp>
#include <gputest/device.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::policy {

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
