// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/devices_report.hpp"

#include <string>

namespace gputest::tool {

/// A resource spec file of CTest for the devices that tests may use, with bytes_for_tests() of each. Empty if no device
/// can give any. Pure.
[[nodiscard]] std::string resource_spec(const DevicesReport& report);

/// The same devices as CMake code, for cmake/detail/schedule.cmake: `gputest_resource_spec`, which is `file`;
/// `gputest_devices`, a list of "<MiB in all> <MiB for tests> <whole|slice>"; and in MiB `gputest_largest_mib`, the
/// memory of the largest, `gputest_context_mib`, what a process takes by itself, `gputest_small_mib` and
/// `gputest_medium_mib`, what a test of these classes takes beside it, and `gputest_beside_heap_mib`, what a device
/// heap takes beside its size. Pure.
[[nodiscard]] std::string resource_facts(const DevicesReport& report, const std::string& file);

/// `gputest devices --resource-spec`: writes a resource spec file for the ctest that has started this process into
/// `folder`, under a name that no other ctest has, and prints resource_facts() for it.
///
/// Does nothing if ctest is not to schedule: the setting says so, the user has or may have a resource spec file of
/// their own, or there is no device. Replaces the file as a whole. Removes such files that are older than ten minutes.
/// Throws InvalidSetting, LedgerError, and std::filesystem::filesystem_error if the folder cannot be written to.
void write_resource_spec(const std::string& folder);

} // namespace gputest::tool
