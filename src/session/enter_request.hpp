#pragma once

#include "devices/device_list.hpp"
#include "ledger/ledger.hpp"
#include "policy/settings.hpp"
#include "session/choice.hpp"
#include "session/plan.hpp"

#include <gputest/bytes.hpp>

namespace gputest::session {

/// What a process's context takes of a device, by what is usual and what was measured.
[[nodiscard]] Bytes usual_context(const Choice& choice, const devices::DeviceList& machine, ledger::DeviceTable& table);

/// What a process asks of the ledger when it enters on some of these devices: a place for its `overhead`, and the
/// largest lease that any of its tests may wait for. `smallest` is that of the devices it may use.
[[nodiscard]] ledger::Ledger::EnterRequest enter_request(const Choice& choice, const Plan& plan, Bytes overhead,
                                                         Bytes smallest, const policy::Settings& settings,
                                                         const devices::DeviceList& machine,
                                                         ledger::DeviceTable& table);

} // namespace gputest::session
