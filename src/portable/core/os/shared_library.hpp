// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::os {

/// Nothing: a list of tests is made anew whenever ctest starts.
[[nodiscard]] inline std::vector<std::string> loaded_libraries() { return {}; }

} // namespace gputest::os
