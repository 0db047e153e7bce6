// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "core/ledger/ledger.hpp"
#include "core/session/choice.hpp"

#include <gputest/bytes.hpp>
#include <gputest/session.hpp>

namespace gputest::session {

/// The expected size of a context if the executable is not known, from the usual and the measured figures.
[[nodiscard]] Bytes usual_context(const Choice& choice, const devices::DeviceList& machine, ledger::DeviceTable& table);

/// The overhead of earlier processes of this executable on the candidates; 0 if not known.
[[nodiscard]] Bytes learnt_context(const Choice& choice, const devices::DeviceList& machine,
                                   ledger::DeviceTable& table);

/// The request with which a process enters on some of these devices: its `overhead`, and the largest lease that any of
/// its tests may wait for. `smallest` is the smallest device that it may use; `large` says whether large tests wait.
[[nodiscard]] ledger::Ledger::EnterRequest enter_request(const Choice& choice, const Plan& plan, Bytes overhead,
                                                         Bytes smallest, LargePolicy large,
                                                         const devices::DeviceList& machine,
                                                         ledger::DeviceTable& table);

} // namespace gputest::session
