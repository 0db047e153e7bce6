// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/ledger/ledger.hpp"
#include "core/policy/capabilities.hpp"
#include "core/policy/visible_devices.hpp"
#include "core/session/overhead.hpp"

#include <gputest/bytes.hpp>
#include <gputest/capability.hpp>
#include <gputest/session.hpp>
#include <gputest/settings.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gputest::session {

/// Compares what tests require with what the machine's devices have. Devices are positions in the machine's list.
///
/// Asks the CUDA driver only if no other source knows, and only once.
class CapableDevices {
public:
  explicit CapableDevices(std::shared_ptr<const devices::DeviceList> machine) : machine_{std::move(machine)} {}

  /// Those of `indices` that can be used at all. Appends to `unusable` why the others cannot.
  [[nodiscard]] std::vector<std::size_t> usable(const std::vector<std::size_t>& indices, std::string& unusable) const;

  /// Those of `indices` that have what is required. If peer access is required, they can also reach one another's
  /// memory.
  [[nodiscard]] std::vector<std::size_t> capable(const Capabilities& required, const std::vector<std::size_t>& indices,
                                                 ledger::Ledger& ledger) const;

  /// Why the devices cannot serve a test that requires this, with both sides; empty if they can.
  [[nodiscard]] std::string why_not(const Capabilities& required, const std::vector<std::size_t>& indices,
                                    ledger::Ledger& ledger) const;

private:
  [[nodiscard]] policy::Candidate candidate(const Capabilities& required, std::size_t index,
                                            ledger::Ledger& ledger) const;

  std::shared_ptr<const devices::DeviceList> machine_;
};

/// The machine's devices that this process may use, as positions in the machine's list.
struct AllowedDevices {
  std::vector<std::size_t> visible;   ///< by CUDA_VISIBLE_DEVICES or Slurm, in its order, or else in the machine's
  std::vector<std::size_t> indices;   ///< of these, CTest's own allocation if there is one, in its order
  std::string restriction;            ///< what restricts it, for messages: `CUDA_VISIBLE_DEVICES='0'`
  std::string note;                   ///< why they are fewer than CTest was asked for; empty if they are not
};

/// Follows the settings for CUDA_VISIBLE_DEVICES, Slurm and CTest. Throws InvalidSetting if CTest's allocation names a
/// device that does not exist.
[[nodiscard]] AllowedDevices allowed_devices(const devices::DeviceList& machine, const Settings& settings);

/// The devices among which the ledger chooses for a process, and how many it needs. Devices are positions in the list.
struct Choice {
  std::vector<std::size_t> candidates; ///< in the order in which CUDA will number those that it gets
  std::size_t gpus = 0;
  bool present = false;   ///< the process uses them already: it gets all of them, with room or without
  bool first_seen = true; ///< they are the first in CUDA's numbering
};

/// Whole GPUs and MIG slices among some devices of the machine.
[[nodiscard]] policy::DeviceKinds kinds_of(const devices::DeviceList& machine, const std::vector<std::size_t>& indices);

/// For a process that has not used a device yet: the devices that have all that its tests require. If there are none,
/// all that it may use; each test is then checked by itself.
///
/// A test that needs more devices than one process can have is skipped; the others run.
[[nodiscard]] Choice choose(const std::vector<std::size_t>& allowed, const policy::DeviceKinds& kinds, std::size_t gpus,
                            const Capabilities& required, const CapableDevices& capable, ledger::Ledger& ledger);

/// For a process that has used devices: those on which it has a context and, if its tests want more, those that are
/// first in its view.
[[nodiscard]] Choice already_chosen(const std::vector<std::size_t>& seen, const OwnContexts& contexts,
                                    std::size_t gpus);

/// As many of the candidates as the process needs, those with the most memory, in the candidates' order.
[[nodiscard]] std::vector<std::size_t> largest_of(const Choice& choice, const devices::DeviceList& machine);

/// The largest number of devices that any test of the plan wants.
[[nodiscard]] std::size_t gpus_of(const Plan& plan);

/// Why a process gets fewer devices than it may use; empty if it does not.
[[nodiscard]] std::string why_fewer(const policy::DeviceKinds& kinds, std::size_t wanted);

/// The most that a process can have of each of the `gpus` largest of these devices; 0 if they are fewer.
[[nodiscard]] Bytes usable_of_each(const std::vector<std::size_t>& indices, std::size_t gpus,
                                   const devices::DeviceList& machine);

} // namespace gputest::session
