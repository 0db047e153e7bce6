// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/runlog/json_object.hpp"

#include <optional>
#include <string>

namespace gputest::runlog {

/// `version` in the line `run`. Goes up when a key is removed or changes its meaning, not when one is added.
inline constexpr unsigned run_log_version = 1;

// The log of a run: a JSON Lines file that all processes of a ctest share (src/DESIGN.md, The run log). Without a
// ctest each process has a file of its own.
//
// Thread-safe. Nothing throws or fails a test: why a log cannot be written is said on stderr, once.

/// The folder is that of these settings, and the lines are of this entry. Without a call the settings of the process
/// count, and the lines are of the program. A log that is open stays so if its folder does: a worker writes its last
/// line when its ctest may have ended, and cannot be found.
void configure(const std::string& folder, const std::string& entry) noexcept;

/// The test that runs now, which the lines name; empty between tests.
void set_running(const std::string& test) noexcept;

/// Writes a line: `event` is its kind, `details` its own members, `test` another test than the running one. Costs one
/// open, write and close.
void write(const char* event, const JsonObject& details,
           const std::optional<std::string>& test = std::nullopt) noexcept;

} // namespace gputest::runlog
