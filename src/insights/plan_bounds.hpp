// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "insights/plan_demand.hpp"
#include "insights/suite_plan.hpp"

#include <vector>

namespace gputest::insights {

/// How many of ctest's jobs a test takes.
[[nodiscard]] unsigned jobs_of(const PlannedTest& test, const PlannedMachine& machine);

/// For how long the driver starts CUDA for a test, while it does so for no other one.
[[nodiscard]] PlannedSeconds context_time_of(const PlannedTest& test, const PlannedMachine& machine);

/// What no order of the tests can make shorter, the largest first, of a plan whose runs are known. Pure.
[[nodiscard]] std::vector<PlanBound> bounds_of(const std::vector<PlannedTest>& tests, const PlannedMachine& machine,
                                               const std::vector<PlannedDemand>& demands,
                                               const std::vector<PlannedRun>& runs);

} // namespace gputest::insights
