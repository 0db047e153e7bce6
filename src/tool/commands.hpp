// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/device_list.hpp"
#include "tool/command_line.hpp"
#include "tool/devices_report.hpp"

#include <gputest/settings.hpp>

namespace gputest::tool {

// Each adds `gputest <command>`.
void add_devices(CommandLine& line); // creates no CUDA context
void add_needs(CommandLine& line);
void add_run(CommandLine& line);
void add_status(CommandLine& line);

/// Looks at the devices and at the ledger, if there is one. Throws LedgerError.
[[nodiscard]] DevicesReport look_at_devices(const Settings& settings, devices::AskDriver ask);

} // namespace gputest::tool
