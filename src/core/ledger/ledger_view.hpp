// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/os/process.hpp"

#include <gputest/settings.hpp>

#include <memory>
#include <string>
#include <vector>

namespace gputest::ledger {

/// What the ledger contains, for reports.
///
/// `records` are those of live processes, and of exited ones whose memory is not free yet.
struct LedgerView : Ledger::Contents {
  std::string folder;                   ///< of the ledger
  bool shared = false;                  ///< whether it is the ledger of a group of users, and not of one user
  bool exists = false;                  ///< false: no process has used this folder yet
  std::vector<os::ProcessState> states; ///< of the processes of `records`
};

/// Reads the ledger in `folder`; does not create one. Throws LedgerError.
[[nodiscard]] LedgerView look_at_ledger(const std::string& folder, const std::shared_ptr<const DeviceProbe>& probe);

/// The same for the ledger that the settings name, with the devices that they name. Opens devices only if there is a
/// ledger.
[[nodiscard]] LedgerView look_at_ledger(const Settings& settings);
[[nodiscard]] std::vector<std::string> uuids_in(const LedgerView& view, policy::DeviceMask devices);

} // namespace gputest::ledger
