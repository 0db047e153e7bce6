#include "cli/run_command.hpp"

#include "cli/command_path.hpp"
#include "platform/environment.hpp"
#include "platform/program_output.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace gputest::cli {

namespace {

ExitCode report(const CommandProblem& problem) {
  fmt::print(stderr, "gputest: {}\n", problem.text);
  return problem.code;
}

ExitCode report(const Outcome& outcome) {
  const bool skip = outcome.kind == Outcome::Kind::skip;
  fmt::print(stderr, "gputest: {}: {}\n", skip ? "skipped" : "failed", outcome.reason);
  return exit_code_of(outcome);
}

} // namespace

ExitCode exit_code_of(const Outcome& outcome) {
  switch (outcome.kind) {
  case Outcome::Kind::granted:
    return ExitCode::done;
  case Outcome::Kind::skip:
    return ExitCode::skipped;
  case Outcome::Kind::fail:
    break;
  }
  // A failure without a wait is a skip that a setting forbids, or a request that exceeds the parent lease.
  return outcome.not_freed ? ExitCode::wait_limit : ExitCode::no_gpu;
}

ExitCode run_command(const RunArguments& arguments) {
  const Run run = run_of(arguments, platform::read_variable);
  if (const auto problem = problem_with_command(arguments.command.front(), platform::read_variable("PATH"))) {
    return report(*problem);
  }

  // Other processes see the command's name, not `gputest`.
  session::Session session{run.settings, run.entry, name_of(run.entry, arguments.command)};
  Plan plan;
  plan.requests.push_back(run.entry.request);
  if (const auto outcome = session.enter(plan); outcome.kind != Outcome::Kind::granted) {
    return report(outcome);
  }
  const auto outcome = session.acquire(run.entry.request, "");
  if (outcome.kind != Outcome::Kind::granted) {
    return report(outcome);
  }

  session.hand_over();
  return report(problem_of_exec(arguments.command.front(), platform::become(arguments.command)));
}

} // namespace gputest::cli
