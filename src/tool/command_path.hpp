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

/// Looks for a command as execvp() will. So a mistyped command fails at once, not after a wait for the GPU.
///
/// `path` is the value of PATH. nullopt if the command can probably be started.
[[nodiscard]] std::optional<CommandProblem> problem_with_command(const std::string& command,
                                                                 const std::optional<std::string>& path);

/// The file that execvp() would run for a command; empty if there is none.
[[nodiscard]] std::string path_of_command(const std::string& command, const std::optional<std::string>& path);

/// What problem_with_command() says, for an exec() that failed with `error`, an errno value.
[[nodiscard]] CommandProblem problem_of_exec(const std::string& command, int error);

} // namespace gputest::tool
