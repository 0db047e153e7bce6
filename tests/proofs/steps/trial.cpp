// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/trial.hpp"

#include <cstring>

namespace gputest::tests {

namespace {

constexpr std::size_t many_calls = 60; // of which a sample has no use: they make a thousand files one by one

/// Whether a sample has a trial at this one of `count` calls.
bool is_in_sample(std::size_t call, std::size_t count) {
  return count <= many_calls || call < many_calls / 3 || count - call <= many_calls / 3 ||
         call % (3 * count / many_calls) == 0;
}

std::size_t call_before(std::size_t boundary) { return boundary == 0 ? 0 : (boundary - 1) / 2; }

std::string place_in_words(const Trial& trial, const Survey& survey) {
  std::string where = "at the beginning";
  if (trial.boundaries > 0) {
    const std::size_t call = call_before(trial.boundaries);
    where = call < survey.calls.size()
                ? (trial.boundaries % 2 == 1 ? "before" : "after") + std::string{" system call "} +
                      std::to_string(call) + ", " + name_of(survey.calls[call])
                : "at the end";
  }
  return where + (trial.steps > 0 ? " and " + std::to_string(trial.steps) + " instructions" : "");
}

} // namespace

std::string in_words(const Trial& trial, const Survey& survey) {
  switch (trial.kind) {
  case Trial::Kind::fail: {
    const Fault& fault = trial.fault;
    const std::string what = fault.error == 0 ? "half written" : std::string{::strerrorname_np(fault.error)};
    return "system call " + std::to_string(fault.call) + ", " + name_of(survey.calls[fault.call]) + ", fails: " + what +
           (fault.for_ever ? ", and so do all like it after it" : "");
  }
  case Trial::Kind::kill_asleep:
    return "killed asleep " + place_in_words(trial, survey);
  case Trial::Kind::kill_blocked:
    return "killed blocked on the mutex " + place_in_words(trial, survey);
  case Trial::Kind::kill_other:
    return "process " + std::to_string(trial.other) + " killed " + place_in_words(trial, survey) + " of the subject";
  case Trial::Kind::kill:
    break;
  }
  return "killed " + place_in_words(trial, survey);
}

std::vector<Trial> kills_at_system_calls(const Survey& survey, Extent extent) {
  std::vector<Trial> trials;
  const std::size_t end = 2 * survey.calls.size() + 1;
  for (std::size_t boundary = 0; boundary <= end; ++boundary) {
    if (extent == Extent::all || boundary == end ||
        (boundary % 2 == 0 && is_in_sample(call_before(boundary), survey.calls.size()))) {
      trials.push_back({Trial::Kind::kill, boundary, 0, 0, {}});
    }
  }
  bool slept = false;
  for (std::size_t call = 0; call < survey.calls.size(); ++call) {
    // The first sleep only: what it waits for in a later one has begun to happen.
    if (!slept && sleeps_until_woken(survey.calls[call])) {
      slept = true;
      trials.push_back({Trial::Kind::kill_asleep, 2 * call + 1, 0, 0, {}});
    }
    if (sets_a_lock(survey.calls[call])) {
      trials.push_back({Trial::Kind::kill_blocked, 2 * call + 1, 0, 0, {}});
    }
  }
  return trials;
}

std::vector<Trial> kills_at_instructions(const Survey& survey, std::size_t stride) {
  std::vector<Trial> trials;
  std::size_t instruction = 0;
  for (std::size_t segment = 0; segment < survey.instructions.size(); ++segment) {
    for (std::size_t step = 1; step <= survey.instructions[segment]; ++step) {
      if (++instruction % stride == 0) {
        trials.push_back({Trial::Kind::kill, 2 * segment, step, 0, {}});
      }
    }
  }
  return trials;
}

std::vector<Trial> some_kills_at_instructions(const Survey& survey) {
  constexpr std::size_t most_steps = 1999; // a prime, as the factor is: other numbers of steps in each scenario
  constexpr std::size_t factor = 7919;
  std::vector<Trial> trials;
  for (std::size_t call = survey.calls.size() % 7; call <= survey.calls.size(); call += 7) {
    trials.push_back({Trial::Kind::kill, 2 * call, 1 + call * factor % most_steps, 0, {}});
  }
  return trials;
}

std::vector<Trial> kills_of_others(const Survey& survey, Extent extent) {
  std::vector<Trial> trials;
  for (std::size_t other = 1; other <= survey.others; ++other) {
    for (std::size_t boundary = 0; boundary <= 2 * survey.calls.size() + 1; ++boundary) {
      if (extent == Extent::all || boundary % 2 == 0) {
        trials.push_back({Trial::Kind::kill_other, boundary, 0, other, {}});
      }
    }
  }
  return trials;
}

std::vector<Trial> failures(const Survey& survey, Extent extent) {
  std::vector<Trial> trials;
  const std::size_t calls = survey.calls.size();
  for (std::size_t call = 0; call < calls; ++call) {
    if (extent == Extent::sample && !is_in_sample(call, calls)) {
      continue;
    }
    auto errors = errors_of(survey.calls[call]);
    if (extent == Extent::sample && !errors.empty()) {
      const int one = errors[call % errors.size()];
      errors.assign(1, one);
    }
    for (const int error : errors) {
      trials.push_back({Trial::Kind::fail, 0, 0, 0, {call, error, false}});
      if (lasts(error)) {
        trials.push_back({Trial::Kind::fail, 0, 0, 0, {call, error, true}});
      }
    }
    if (writes_a_file(survey.calls[call])) {
      trials.push_back({Trial::Kind::fail, 0, 0, 0, {call, 0, false}});
    }
  }
  return trials;
}

} // namespace gputest::tests
