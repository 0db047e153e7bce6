// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "tool/command_line.hpp"
#include "tool/devices_report.hpp"

#include <gputest/settings.hpp>

namespace gputest::tool {

/// Adds `gputest devices`, which creates no CUDA context.
void add_devices(CommandLine& line);

/// Looks at the devices and at the ledger, if there is one. Throws LedgerError.
[[nodiscard]] DevicesReport look_at_devices(const Settings& settings, devices::AskDriver ask);

} // namespace gputest::tool
