// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "tool/devices_report.hpp"
#include "tool/exit_codes.hpp"

#include <gputest/settings.hpp>

namespace gputest::tool {

/// `gputest devices`: prints what devices there are and what is free of them, on stdout. Creates no CUDA context.
///
/// Throws InvalidSetting, LedgerError.
[[nodiscard]] ExitCode devices_command(bool json);

/// Looks at the devices and at the ledger, if there is one. Throws LedgerError.
[[nodiscard]] DevicesReport look_at_devices(const Settings& settings, devices::AskDriver ask);

} // namespace gputest::tool
