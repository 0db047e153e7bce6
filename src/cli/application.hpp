// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::cli {

/// The whole tool: reads the command line (without the program's name), does it, and returns what main() returns.
///
/// Results go to stdout, messages to stderr. Does not throw; does not return if `run` becomes its command.
[[nodiscard]] int run_application(const std::vector<std::string>& arguments);

} // namespace gputest::cli
