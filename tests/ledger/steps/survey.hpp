// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ledger/steps/scenario.hpp"
#include "ledger/steps/stage.hpp"
#include "ledger/steps/trial.hpp"

#include <memory>

namespace gputest::tests {

/// A stage as the scenario needs it.
[[nodiscard]] std::unique_ptr<Stage> stage_for(const Scenario& scenario);

/// Plays the scenario with nothing happening to anybody. Counting instructions takes microseconds for each.
[[nodiscard]] Survey survey(const Scenario& scenario, bool count_instructions);

} // namespace gputest::tests
