// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gputest::tests {

/// Does to this process what a test with an error in it may do; nothing if `words` name no such act.
///
///   close-all                closes every descriptor from 3 on
///   close <name>             closes those of the file with this name, whatever its folder
///   replace <name> <file>    makes those be of `file`, open for both directions
///   use-up-descriptors [n]   opens as many files as it may, less n
[[nodiscard]] std::optional<std::string> hostile_act(const std::vector<std::string>& words);

} // namespace gputest::tests
