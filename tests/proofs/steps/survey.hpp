// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/scenario.hpp"
#include "proofs/steps/stage.hpp"
#include "proofs/steps/trial.hpp"

#include <memory>

namespace gputest::tests {

/// A stage as the scenario needs it.
[[nodiscard]] std::unique_ptr<Stage> stage_for(const Scenario& scenario);

/// Plays the scenario with nothing happening to anybody. Counting instructions takes microseconds for each.
[[nodiscard]] Survey survey(const Scenario& scenario, bool count_instructions);

} // namespace gputest::tests
