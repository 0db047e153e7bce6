// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace gputest::os {

/// What is left to read of an open file; nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> read_to_end(int descriptor);

/// All of a file; nullopt if it cannot be read. For small files such as those of /proc.
[[nodiscard]] std::optional<std::string> contents_of(const std::string& path);

} // namespace gputest::os
