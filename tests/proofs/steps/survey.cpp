// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/survey.hpp"

#include "proofs/steps/faults.hpp"
#include "proofs/steps/run_of_subject.hpp"

#include <stdexcept>
#include <string>

namespace gputest::tests {

namespace {

void end(Scene& scene) {
  scene.kill(0);
  scene.finish();
}

Survey survey_calls(Stage& stage, const Scenario& scenario) {
  Survey survey;
  Scene scene{stage, scenario};
  survey.others = scene.others();
  survey.outcome = to_the_end(
      scene, [&] { survey.calls.push_back(scene.subject().system_call()); }, [] {});
  scene.quiesce();
  end(scene);
  return survey;
}

std::vector<std::size_t> survey_instructions(Stage& stage, const Scenario& scenario) {
  Scene scene{stage, scenario};
  const Tracee& subject = scene.subject();
  std::vector<std::size_t> instructions{0};
  while (!subject.at_breakpoint()) {
    const auto call = subject.at_system_call();
    if (call) {
      scene.before(*call);
      instructions.push_back(0);
    } else {
      ++instructions.back();
    }
    if (scene.subject().step() != Tracee::Stop::step) {
      throw std::runtime_error{"a single step goes further than one instruction"};
    }
    if (call) {
      scene.after_call();
    }
  }
  end(scene);
  return instructions;
}

} // namespace

std::unique_ptr<Stage> stage_for(const Scenario& scenario) {
  return std::make_unique<Stage>(!scenario.on_a_new_folder);
}

Survey survey(const Scenario& scenario, bool count_instructions) {
  auto stage = stage_for(scenario);
  if (!scenario.on_a_new_folder) {
    // What only the first process in a slot does is not done again in the trials.
    static_cast<void>(survey_calls(*stage, scenario));
  }
  Survey survey = survey_calls(*stage, scenario);
  if (count_instructions) {
    if (scenario.on_a_new_folder) {
      stage = stage_for(scenario);
    }
    survey.instructions = survey_instructions(*stage, scenario);
    if (survey.instructions.size() != survey.calls.size() + 1) {
      throw std::runtime_error{"stepping makes other system calls"};
    }
  }
  return survey;
}

} // namespace gputest::tests
