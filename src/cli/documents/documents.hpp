// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cli/documents/tool_description.hpp"

#include <string>

namespace gputest::cli {

/// `man gputest`, in the macros of man(7).
[[nodiscard]] std::string man_page(const ToolDescription& description);

/// Completion of the command line by bash, with or without the package bash-completion.
[[nodiscard]] std::string bash_completion(const ToolDescription& description);

/// The same by zsh, as the file `_gputest` in its function path.
[[nodiscard]] std::string zsh_completion(const ToolDescription& description);

/// The same by fish.
[[nodiscard]] std::string fish_completion(const ToolDescription& description);

} // namespace gputest::cli
