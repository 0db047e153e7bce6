// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/run_log.hpp"

#include <string>

namespace gputest::insights {

/// A run in the format of Chrome's about:tracing, which Perfetto reads: for each device the leases, in as many lanes as
/// there were at once, and the bytes leased; and for each worker its cases. Pure.
[[nodiscard]] std::string trace_of(const RunLog& run);

} // namespace gputest::insights
