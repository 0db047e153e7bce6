// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/scenario.hpp"
#include "proofs/steps/stage.hpp"
#include "proofs/steps/trial.hpp"

namespace gputest::tests {

/// Plays the scenario with what the trial does to it. Throws with what is wrong if it does harm.
void play(Stage& stage, const Scenario& scenario, const Survey& survey, const Trial& trial);

} // namespace gputest::tests
