// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace gputest::tool {

/// Where execvp() would find a command.
struct FoundCommand {
  int error = 0;    ///< the errno value with which exec() would fail; 0 if it probably would not
  std::string file; ///< empty after an error
};

/// Looks for a command as execvp() will, so that a mistyped command fails at once, not after a wait for the GPU. `path`
/// is the value of PATH.
[[nodiscard]] FoundCommand find_command(const std::string& command, const std::optional<std::string>& path);

} // namespace gputest::tool
