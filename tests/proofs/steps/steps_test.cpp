// SPDX-License-Identifier: BSD-3-Clause
// What the subject of each scenario does, with it or others killed at every point of it, and with every system call of
// it failing. Option besides GoogleTest's: --stride=<n> (a kill at every nth instruction; with 1 at all of them, and
// all of the other trials, too). Without it, a sample of all trials.

#include "proofs/steps/play.hpp"
#include "support/run_tests.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>

namespace gputest::tests {
namespace {

std::size_t stride = 0; // of kills at instructions; 0: a sample

std::map<std::string, std::size_t> trials_made; // by what they do

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

/// Why nothing can be stepped through here; empty if it can.
std::string why_no_steps() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "the sanitizer's own system calls and instructions would be taken for the library's";
#else
  return Tracee::why_not();
#endif
}

class Steps : public ::testing::TestWithParam<Scenario> {
protected:
  void SetUp() override {
    if (const std::string reason = why_no_steps(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }

  static Extent extent() { return stride == 1 && !GetParam().is_long ? Extent::all : Extent::sample; }

  static void play_all(const Survey& survey, const std::vector<Trial>& trials) {
    const Scenario& scenario = GetParam();
    std::unique_ptr<Stage> stage;
    for (const Trial& trial : trials) {
      ++trials_made[trial.steps > 0 ? "kills at instructions" : in_words(trial.kind)];
      try {
        if (!stage || scenario.on_a_new_folder) {
          stage = stage_for(scenario);
        }
        play(*stage, scenario, survey, trial);
      } catch (const std::exception& error) {
        stage.reset(); // the next one shall not suffer from it
        ADD_FAILURE() << in_words(trial, survey) << ": " << error.what();
      }
    }
  }
};

TEST_P(Steps, a_kill_at_a_system_call_harms_nobody) {
  const Survey survey = tests::survey(GetParam(), false);
  play_all(survey, kills_at_system_calls(survey, extent()));
}

TEST_P(Steps, a_kill_at_an_instruction_harms_nobody) {
  if (GetParam().is_long) {
    GTEST_SKIP() << "too many instructions between its system calls, and none of them of the ledger's own";
  }
  const Survey survey = tests::survey(GetParam(), stride > 0);
  play_all(survey, stride > 0 ? kills_at_instructions(survey, stride) : some_kills_at_instructions(survey));
}

TEST_P(Steps, a_kill_of_another_at_a_system_call_harms_nobody) {
  const Survey survey = tests::survey(GetParam(), false);
  play_all(survey, kills_of_others(survey, extent()));
}

TEST_P(Steps, a_system_call_that_fails_harms_nobody) {
  const Survey survey = tests::survey(GetParam(), false);
  play_all(survey, failures(survey, extent()));
}

INSTANTIATE_TEST_SUITE_P(, Steps, ::testing::ValuesIn(scenarios()),
                         [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace gputest::tests

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::string option = argc == 2 ? argv[1] : "";
  if (option.compare(0, 9, "--stride=") == 0) {
    gputest::tests::stride = std::stoul(option.substr(9));
  } else if (argc > 1) {
    std::cerr << "unknown option " << argv[1] << "; known is --stride=<n>\n";
    return 2;
  }
  const int status = gputest::tests::run_tests();
  for (const auto& [what, count] : gputest::tests::trials_made) {
    std::cout << "steps: " << count << " " << what << "\n";
  }
  return status;
}
