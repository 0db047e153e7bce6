// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::platform {

/// The files of the shared libraries that this process has loaded, by the paths by which they were found.
[[nodiscard]] std::vector<std::string> loaded_libraries();

} // namespace gputest::platform
