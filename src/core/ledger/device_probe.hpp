// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/ledger/record.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gputest::ledger {

/// What the devices show, in the ledger's terms: capacity, external processes' memory, and whether an ended process's
/// is back.
///
/// A device that is not in the list (another setting, another container) has no capacity, and only who sees it can tell
/// what is back; memory of a simulated one ends with its process, unless its setting says that it comes back later.
///
/// Where the driver lists no processes, or lists pids of another namespace, memory in use that may be a dead process's
/// is taken for somebody else's when its end has been known for `long_ago`: a device has all of it back 0.12 s after a
/// kill (H200).
[[nodiscard]] std::shared_ptr<const DeviceProbe> make_probe(std::shared_ptr<const devices::DeviceList> devices,
                                                            std::chrono::milliseconds long_ago = std::chrono::seconds{
                                                                1});

/// The test or command in the ledger to which a process belongs: its own, an ancestor's, or that of its parent lease,
/// which it keeps after its ancestors have exited. Empty for an external process.
[[nodiscard]] std::string name_of_owner(std::int64_t pid, const std::vector<Record>& records);

} // namespace gputest::ledger
