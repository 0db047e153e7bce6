#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gputest::system {

/// Runs a program, given by its path and its arguments, and returns what it wrote to its standard output.
///
/// Nothing to read and nowhere for errors. Blocks until the program has ended. nullopt if it cannot be started or does
/// not end with exit code 0. Does not throw.
[[nodiscard]] std::optional<std::string> output_of(const std::vector<std::string>& command);

} // namespace gputest::system
