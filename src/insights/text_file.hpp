// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::insights {

/// The whole text of a file. Throws Error, `<path> cannot be read: <reason>`.
[[nodiscard]] std::string read_text(const std::string& path);

/// Writes a file, in place of what it has. Throws Error, `<path> cannot be written: <reason>`; the file may have a part
/// of the text then.
void write_text(const std::string& path, const std::string& text);

/// What a folder has with names that end so, sorted; none if it cannot be read.
[[nodiscard]] std::vector<std::string> files_in(const std::string& folder, const char* extension);

} // namespace gputest::insights
