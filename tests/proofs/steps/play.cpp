// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/play.hpp"

#include "proofs/lock_holder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace gputest::tests {

namespace {

using Stop = Tracee::Stop;

void expect(bool holds, const std::string& otherwise) {
  if (!holds) {
    throw std::runtime_error{otherwise};
  }
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Brings the subject to the end of its operation; what came of it. `at_entry` and `at_exit` see its system calls.
template <class AtEntry, class AtExit>
std::string to_the_end(Scene& scene, AtEntry at_entry, AtExit at_exit) {
  constexpr std::size_t most_boundaries = 50000; // far more than any operation has: it goes round in circles
  for (std::size_t boundary = 0; boundary < most_boundaries; ++boundary) {
    switch (scene.advance()) {
    case Tracee::Stop::breakpoint:
      return scene.outcome();
    case Tracee::Stop::entry:
      at_entry();
      break;
    case Tracee::Stop::exit:
      at_exit();
      break;
    case Tracee::Stop::step:
      break;
    case Tracee::Stop::asleep:
      scene.quiesce();
      throw std::runtime_error{"the subject sleeps, and nobody is left who would wake it"};
    case Tracee::Stop::gone:
      throw std::runtime_error{"the subject was " + scene.subject().end()};
    }
  }
  throw std::runtime_error{"the subject does not come to an end"};
}

std::string to_the_end(Scene& scene) {
  return to_the_end(
      scene, [] {}, [] {});
}

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
  expect(!scene.is_beyond_its_claim(), "uses more than its record says");
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

/// Brings the subject to where the trial does something. Whether that is its operation's end.
bool go_to(Scene& scene, std::size_t boundaries) {
  for (std::size_t boundary = 0; boundary < boundaries; ++boundary) {
    const Stop stop = scene.advance();
    if (stop == Stop::breakpoint) {
      return true; // maybe sooner than in the survey: who is woken by two at once sleeps once less
    }
    expect(stop == Stop::entry || stop == Stop::exit, "the subject sleeps or has ended without being told to");
  }
  return false;
}

/// Goes on by so many instructions, but into no system call if the survey has not counted them.
void step(Scene& scene, std::size_t steps, const Survey& survey) {
  for (std::size_t step = 0; step < steps; ++step) {
    if (survey.instructions.empty() && (scene.subject().at_system_call() || scene.subject().at_breakpoint())) {
      return;
    }
    // There may be fewer instructions than in the survey: beyond the end it would wait for its next command for ever.
    if (scene.subject().step() != Stop::step) {
      return;
    }
  }
}

/// Whether others leave as soon as they are notified, so that the subject finds that they have, and does not sleep.
bool has_idle(const Scenario& scenario) {
  return std::any_of(scenario.before.begin(), scenario.before.end(),
                     [](const std::string& command) { return command.find(" idle") != std::string::npos; });
}

void kill_asleep(Scene& scene, const Scenario& scenario, const Trial& trial) {
  static_cast<void>(go_to(scene, trial.boundaries - 1));
  expect(scene.subject().to_boundary() == Stop::entry, "the subject does not come to sleep");
  const Stop stop = scene.subject().to_boundary();
  expect(stop == Stop::asleep || (stop == Stop::exit && has_idle(scenario)), "the subject does not sleep");
  scene.kill(0);
}

void kill_blocked(Scene& scene, const Trial& trial) {
  if (go_to(scene, trial.boundaries) || !sets_a_lock(scene.subject().system_call())) {
    return; // sooner than in the survey
  }
  const LockHolder holder{scene.subject().file(scene.subject().system_call().arguments[0])};
  if (!holder) {
    return; // the subject has it, and is about to unlock it
  }
  expect(scene.subject().to_blocked() == Stop::asleep, "the subject does not wait for the mutex");
  scene.kill(0);
}

/// An outcome that says what it could not do, with what file or its folder, and why. After the first of many failures
/// the reason may be what a later call sees.
bool explains(const std::string& outcome, const std::string& folder, const Fault& fault) {
  const std::string reason = std::generic_category().message(fault.error == 0 ? ENOSPC : fault.error);
  return outcome.compare(0, 12, "LedgerError:") == 0 &&
         has(outcome, std::filesystem::path{folder}.parent_path().string()) &&
         (fault.for_ever || has(outcome, reason) ||
          (fault.error == ENOENT && (has(outcome, " is missing") || has(outcome, " renamed"))));
}

/// Whether a process may lose its place for that: it can neither notify nor take its claim back. One that has only no
/// descriptor left has a spare one to notify with.
bool may_cost_the_place(const SystemCall& failing, const Fault& fault) {
  return fault.for_ever || (may_be_of_notifying(failing) && fault.error != EMFILE && fault.error != ENFILE);
}

/// Brings the subject to the operation's end, with the system call of the fault failing on the way.
std::string to_the_end_with(Scene& scene, const SystemCall& failing, const Fault& fault) {
  std::size_t call = 0;
  bool has_failed = false;
  bool fails = false;
  const auto at_entry = [&] {
    const SystemCall now = scene.subject().system_call();
    // Who is woken by two at once makes some calls less than in the survey: then the next one of the kind fails.
    fails = now.number == failing.number && call >= fault.call && (fault.for_ever || !has_failed) &&
            !errors_of(now).empty();
    has_failed = has_failed || fails;
    ++call;
    if (fails && fault.error == 0) {
      scene.subject().set_third_argument(now.arguments[2] / 2);
    } else if (fails && !is_made_though_it_fails(now)) {
      scene.subject().leave_out();
    }
  };
  const auto at_exit = [&] {
    if (fails && fault.error != 0) {
      scene.subject().set_result(-fault.error);
    }
    fails = false;
  };
  return to_the_end(scene, at_entry, at_exit);
}

void play_failure(Stage& stage, Scene& scene, const Scenario& scenario, const Survey& survey, const Fault& fault) {
  const SystemCall& failing = survey.calls.at(fault.call);
  const bool was_there = scene.is_on_the_ledger();
  const std::string outcome = to_the_end_with(scene, failing, fault);
  if (outcome != survey.outcome && outcome != scenario.or_else) {
    expect(explains(outcome, stage.folder(), fault) || (is_of_the_allocator(failing) && has(outcome, "bad_alloc")),
           "answers `" + outcome + "`");
  }
  expect(!scene.is_asking(), "answers `" + outcome + "`, and the ledger says that it waits");
  const bool silent = was_there && !scene.is_on_the_ledger();
  if (silent) {
    expect(may_cost_the_place(failing, fault), "has lost its place, and answers `" + outcome + "`");
    scene.show_free(0); // to the others it is dead, and they go on as soon as they could if it were
  }
  scene.quiesce();
  if (outcome != survey.outcome) {
    scene.begin();
    const std::string again = to_the_end(scene);
    expect(again == survey.outcome ||
               (may_cost_the_place(failing, fault) && has(again, "this process has lost its place on the ledger")),
           "answers `" + again + "` when it tries again");
    expect(!scene.is_beyond_its_claim(), "uses more than its record says when it has tried again");
  }
}

void play_kill_of_other(Scene& scene, const Trial& trial) {
  const bool at_the_end = go_to(scene, trial.boundaries);
  scene.kill(trial.other);
  scene.show_free(trial.other);
  const std::string outcome = at_the_end ? scene.outcome() : to_the_end(scene);
  expect(!has(outcome, "rror"), "answers `" + outcome + "`");
  scene.quiesce();
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

void play(Stage& stage, const Scenario& scenario, const Survey& survey, const Trial& trial) {
  Scene scene{stage, scenario};
  switch (trial.kind) {
  case Trial::Kind::kill:
    if (!go_to(scene, trial.boundaries)) {
      step(scene, trial.steps, survey);
    }
    break;
  case Trial::Kind::kill_asleep:
    kill_asleep(scene, scenario, trial);
    break;
  case Trial::Kind::kill_blocked:
    kill_blocked(scene, trial);
    break;
  case Trial::Kind::kill_other:
    play_kill_of_other(scene, trial);
    break;
  case Trial::Kind::fail:
    play_failure(stage, scene, scenario, survey, trial.fault);
    break;
  }
  scene.kill(0);
  scene.finish();
}

} // namespace gputest::tests
