// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/ledger.hpp"

#include <gputest/device.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace gputest::session {

/// `12 s`, `3 min`, `2 h`: whole units, as people say it.
[[nodiscard]] std::string short_duration(std::chrono::seconds duration);

/// What somebody holds or waits for: `Sort.Keys (pid 4711, 3 GiB, for 12 s)`.
[[nodiscard]] std::string describe(const ledger::Record& entry);

/// What each of them, and this process, has of its devices without a lease: `this process 4 GiB, Sort.Keys (pid 4711)
/// 512 MiB`. Names the first few, the largest first.
[[nodiscard]] std::string describe_overheads(const ledger::Blocked& blocked);

/// Who stands in the way, in one line; names the first few. Those that have memory beyond their claims come first.
[[nodiscard]] std::string describe(const ledger::Blocked& blocked);

/// `GPU-…` or `GPU-…, GPU-…`.
[[nodiscard]] std::string describe(const std::vector<Device>& devices);

/// Writes one line, `gputest: <text>`, to stderr at once and in one piece.
void tell(const std::string& text);

/// Writes the most that a test has allocated of a device to standard output, in the form that CTest takes for a
/// measurement of the entry: `gputest_peak_mib`.
void tell_peak(Bytes peak);

} // namespace gputest::session
