// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::session {

/// Whether standard error is a terminal on which a line can be written anew.
[[nodiscard]] bool shows_progress();

/// Writes a text in place of the one before, on the last line of the terminal; as much of it as the line has room for.
/// Only where progress is shown.
void show_progress(const std::string& text);

/// Removes that line, so that something else can be written. Does nothing if there is none.
void end_progress();

} // namespace gputest::session
