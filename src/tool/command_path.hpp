// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tool/exit_codes.hpp"

#include <optional>
#include <string>

namespace gputest::tool {

/// Why a command cannot be started, and how `gputest run` ends because of it.
struct CommandProblem {
  ExitCode code = ExitCode::not_found;
  std::string text;
};

/// Where execvp() would find a command.
struct FoundCommand {
  int error = 0;    ///< the errno value with which exec() would fail; 0 if it probably would not
  std::string file; ///< empty after an error
};

/// Looks for a command as execvp() will, so that a mistyped command fails at once, not after a wait for the GPU. `path`
/// is the value of PATH.
[[nodiscard]] FoundCommand find_command(const std::string& command, const std::optional<std::string>& path);

/// What to say of an exec() that failed with `error`, an errno value.
[[nodiscard]] CommandProblem problem_of_exec(const std::string& command, int error);

} // namespace gputest::tool
