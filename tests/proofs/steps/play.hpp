// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/scenario.hpp"
#include "proofs/steps/scene.hpp"
#include "proofs/steps/trial.hpp"

#include <memory>

namespace gputest::tests {

/// A stage as the scenario needs it.
[[nodiscard]] std::unique_ptr<Stage> stage_for(const Scenario& scenario);

/// Plays the scenario with nothing happening to anybody. Counting instructions takes microseconds for each.
[[nodiscard]] Survey survey(const Scenario& scenario, bool count_instructions);

/// Plays the scenario with what the trial does to it. Throws with what is wrong if it does harm.
void play(Stage& stage, const Scenario& scenario, const Survey& survey, const Trial& trial);

} // namespace gputest::tests
