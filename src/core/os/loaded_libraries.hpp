// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file_stamp.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputest::os {

/// The files of the shared libraries that this process has loaded, by the paths by which they were found.
[[nodiscard]] std::vector<std::string> loaded_libraries();

/// Files by their paths.
using FileStates = std::map<std::string, std::optional<FileStamp>>;

/// Those of this process's executable and of the shared libraries that it has loaded.
[[nodiscard]] FileStates states_of_program();

/// The first of the files that is another one now, or has been changed; empty if none is.
[[nodiscard]] std::string change_of(const FileStates& files);

} // namespace gputest::os
