// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/devices_report.hpp"

#include <string>

namespace gputest::tool {

/// The devices that tests may use as CMake code, for cmake/detail/schedule.cmake: `gputest_devices`, a list of "<MiB in
/// all> <MiB for tests> <whole|slice>[ free]" with bytes_for_tests() of each, `free` where a test can have all of it;
/// in MiB `gputest_largest_mib`, the memory of the largest, `gputest_most_processes` that may be on a device at once,
/// 0: any number, `gputest_context_mib`, what a process takes by itself, `gputest_small_mib` and `gputest_medium_mib`,
/// what a test of these classes takes beside it, and `gputest_beside_heap_mib`, what a device heap takes beside its
/// size; and `gputest_mps`, a property of entries with workers that must not use MPS. Empty if no device can give any.
/// Pure.
[[nodiscard]] std::string ctest_facts(const DevicesReport& report);

/// What a ctest has run in a folder, by the log that it leaves there.
enum class RunByCtest {
  unknown, ///< there is no log
  nothing, ///< it has listed the tests (-N), or selected none
  others,  ///< none by gputest's programs. They may have used a GPU all the same
  entries, ///< some by gputest's programs
};
[[nodiscard]] RunByCtest run_by_ctest(const std::string& folder);

/// What to say of `others`.
constexpr auto ran_without_gputest =
    "none of these tests was started by gputest, so nobody knows whether one has used a GPU. Register those that do "
    "with gpu_add_test() or gpu_discover_tests(), or write --test-dir with the folder in which ctest was started, or "
    "--log with a folder of logs";

/// What to say of `nothing`.
[[nodiscard]] std::string nothing_ran(const std::string& folder);

} // namespace gputest::tool
