// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/declarations.hpp"
#include "insights/run_log.hpp"

#include <vector>

namespace gputest::insights {

/// How long a run would take with what is declared, and with what is advised, as far as a plan can know.
struct Saving {
  double now = 0;
  double then = 0;
};

/// Plans the entries of the run that had leases, on its devices, with its number of jobs. Pure.
[[nodiscard]] Saving saving_of(const RunLog& run, const std::vector<Declaration>& declarations);

} // namespace gputest::insights
