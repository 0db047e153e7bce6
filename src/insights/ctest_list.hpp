// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace gputest::insights {

/// What ctest, looked for in PATH, prints of the tests of a folder (--show-only=json-v1). It is started in a scratch
/// folder: in its own one even a listing would empty LastTest.log, in which people read what the tests of the last run
/// wrote. Throws Error, with the command that shows why, if it prints none.
[[nodiscard]] std::string list_ctest(const std::string& folder, const std::vector<std::string>& options);

} // namespace gputest::insights
