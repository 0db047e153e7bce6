// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/devices_report.hpp"

#include <string>

namespace gputest::tool {

/// The resource type of gputest's resource spec files. One slot is 1 MiB of a device. CTest shows it to a test as
/// CTEST_RESOURCE_GROUP_<i>_GPUTEST_MIB.
inline constexpr const char* resource_type = "gputest_mib";

/// A resource spec file of CTest for the devices that tests may use, with bytes_for_tests() of each. Empty if no device
/// can give any. Pure.
[[nodiscard]] std::string resource_spec(const DevicesReport& report);

/// The same devices as CMake code, for cmake/detail/schedule.cmake: `gputest_resource_spec`, which is `file`;
/// `gputest_devices`, a list of "<MiB in all> <MiB for tests> <whole|slice>"; and in MiB `gputest_largest_mib`, the
/// memory of the largest, `gputest_context_mib`, what a process takes by itself, `gputest_small_mib` and
/// `gputest_medium_mib`, what a test of these classes takes beside it, and `gputest_beside_heap_mib`, what a device
/// heap takes beside its size. Pure.
[[nodiscard]] std::string resource_facts(const DevicesReport& report, const std::string& file);

} // namespace gputest::tool
