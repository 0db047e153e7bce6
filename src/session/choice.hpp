#pragma once

#include "policy/mig_slices.hpp"
#include "session/allowed_devices.hpp"
#include "session/capable_devices.hpp"
#include "session/own_contexts.hpp"
#include "session/plan.hpp"

#include <gputest/capability.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace gputest::session {

/// Among which devices the ledger is to place a process, and on how many. Devices are named by their place in the list.
struct Choice {
  std::vector<std::size_t> candidates; ///< in the order in which CUDA will number those that it gets
  std::size_t gpus = 0;
  bool present = false;   ///< the process uses them already: it is placed on all of them, whatever there is
  bool first_seen = true; ///< they are those with which CUDA's numbers begin
};

/// Whole GPUs and MIG slices among some devices of the machine.
[[nodiscard]] policy::DeviceKinds kinds_of(const devices::DeviceList& machine, const std::vector<std::size_t>& indices);

/// For a process that has not used a device yet: devices that have all that its tests require, or else any it may use,
/// on which each test is then skipped or not.
///
/// Tests that need more devices than one process can have are skipped one by one; the others need not be.
[[nodiscard]] Choice choose(const std::vector<std::size_t>& allowed, const policy::DeviceKinds& kinds, std::size_t gpus,
                            const Capabilities& required, const CapableDevices& capable, ledger::Ledger& ledger);

/// For one that has: the devices on which it has a context and, if its tests want more, those that it sees first.
[[nodiscard]] Choice already_chosen(const std::vector<std::size_t>& seen, const OwnContexts& contexts,
                                    std::size_t gpus);

/// Most devices that any test of the plan wants.
[[nodiscard]] std::size_t gpus_of(const Plan& plan);

/// Why a process gets fewer devices than it may use; empty if it does not.
[[nodiscard]] std::string why_fewer(const policy::DeviceKinds& kinds, std::size_t wanted);

} // namespace gputest::session
