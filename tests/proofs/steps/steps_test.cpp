// SPDX-License-Identifier: BSD-3-Clause
// What the subject of each scenario does, with it or others killed at every point of it, and with every system call of
// it failing. Options besides GoogleTest's: --stride=<n> (a kill at every nth instruction; with 1 at all of them, and
// all of the other trials, too, of which else a sample is made), --jobs=<n>.

#include "proofs/steps/jobs.hpp"
#include "proofs/steps/play.hpp"
#include "proofs/steps/survey.hpp"
#include "support/run_tests.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <map>
#include <set>
#include <string>

namespace gputest::tests {
namespace {

struct Options {
  std::size_t stride = 5003; // a prime, so that it does not keep time with any loop
  std::size_t jobs = 1;

  [[nodiscard]] Extent extent_for(const Scenario& scenario) const {
    return stride == 1 && !scenario.is_long ? Extent::all : Extent::sample;
  }
};

/// Of all that this process has tried.
struct Totals {
  std::set<std::string> scenarios;
  std::map<std::string, std::size_t> trials; ///< by what they do
  std::size_t failures = 0;
};

Totals& totals() {
  static Totals totals;
  return totals;
}

const char* in_words(Trial::Kind kind) {
  switch (kind) {
  case Trial::Kind::kill_asleep:
    return "kills asleep";
  case Trial::Kind::kill_blocked:
    return "kills blocked on the mutex";
  case Trial::Kind::kill_other:
    return "kills of others";
  case Trial::Kind::fail:
    return "failing system calls";
  case Trial::Kind::kill:
    break;
  }
  return "kills at system calls";
}

Options& options() {
  static Options options;
  return options;
}

/// Why nothing can be stepped through here; empty if it can.
std::string why_no_steps() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "the sanitizer's own system calls and instructions would be taken for the library's";
#else
  return Tracee::why_not();
#endif
}

TEST(Play, ends_with_an_operation_that_takes_fewer_instructions_than_it_did_in_the_survey) {
  if (const std::string reason = why_no_steps(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const Scenario& scenario = scenarios().back();
  const Survey survey = tests::survey(scenario, false);
  const auto stage = stage_for(scenario);
  constexpr std::size_t more_than_there_are = 100'000;
  play(*stage, scenario, survey, {Trial::Kind::kill, 2 * survey.calls.size(), more_than_there_are, 0, {}});
}

class Steps : public ::testing::TestWithParam<Scenario> {
protected:
  void SetUp() override {
    if (const std::string reason = why_no_steps(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }

  static void play_all(const Survey& survey, const std::vector<Trial>& trials) {
    const Scenario& scenario = GetParam();
    const auto failures = in_jobs(options().jobs, trials.size(), [&] {
      auto stage = std::make_shared<std::unique_ptr<Stage>>();
      return [&, stage](std::size_t number) -> std::string {
        const Trial& trial = trials[number];
        try {
          if (!*stage || scenario.on_a_new_folder) {
            *stage = stage_for(scenario);
          }
          play(**stage, scenario, survey, trial);
          return {};
        } catch (const std::exception& error) {
          stage->reset(); // the next one shall not suffer from it
          return in_words(trial, survey) + ": " + error.what();
        }
      };
    });
    for (const auto& failure : failures) {
      ADD_FAILURE() << failure;
    }
    totals().scenarios.insert(scenario.name);
    totals().failures += failures.size();
    for (const auto& trial : trials) {
      ++totals().trials[trial.steps > 0 ? "kills at instructions" : in_words(trial.kind)];
    }
    RecordProperty("trials", static_cast<int>(trials.size()));
  }
};

TEST_P(Steps, a_kill_at_a_system_call_harms_nobody) {
  const Survey survey = tests::survey(GetParam(), false);
  play_all(survey, kills_at_system_calls(survey, options().extent_for(GetParam())));
}

TEST_P(Steps, a_kill_at_an_instruction_harms_nobody) {
  if (GetParam().is_long) {
    GTEST_SKIP() << "too many instructions between its system calls, and none of them of the ledger's own";
  }
  const Survey survey = tests::survey(GetParam(), true);
  play_all(survey, kills_at_instructions(survey, options().stride));
}

TEST_P(Steps, a_kill_of_another_at_a_system_call_harms_nobody) {
  const Survey survey = tests::survey(GetParam(), false);
  play_all(survey, kills_of_others(survey, options().extent_for(GetParam())));
}

TEST_P(Steps, a_system_call_that_fails_harms_nobody) {
  const Survey survey = tests::survey(GetParam(), false);
  play_all(survey, failures(survey, options().extent_for(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(, Steps, ::testing::ValuesIn(scenarios()),
                         [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace gputest::tests

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  auto& options = gputest::tests::options();
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.compare(0, 9, "--stride=") == 0) {
      options.stride = std::stoul(argument.substr(9));
    } else if (argument.compare(0, 7, "--jobs=") == 0) {
      options.jobs = std::stoul(argument.substr(7));
    } else {
      std::cerr << "unknown option " << argument << "; known are --stride=<n> and --jobs=<n>\n";
      return 2;
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const int status = gputest::tests::run_tests();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto& totals = gputest::tests::totals();
  std::cout << "steps: " << totals.scenarios.size() << " scenarios";
  for (const auto& [what, count] : totals.trials) {
    std::cout << ", " << count << " " << what;
  }
  std::cout << ", " << totals.failures << " failures, " << took.count() << " s\n";
  return status;
}
