// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::workers {

/// No case of the executable that requires these fixtures (`--fixtures`) comes any more in this ctest run: ends its
/// workers, and blocks until all have ended.
/// Returns EXIT_FAILURE, and says why, if one of them did not end as it should when it had no case to run. Writes what
/// this run has shown of the executable's long cases to that file (`--long`); empty: there is none.
[[nodiscard]] int end_workers(const std::string& executable, const std::string& long_cases,
                              const std::string& fixtures);

} // namespace gputest::workers
