#include "cli/run_command.hpp"

#include "cli/command_path.hpp"
#include "system/environment.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>

#include <unistd.h>

namespace gputest::cli {

namespace {

/// exec(), which returns only if it fails: then its errno value.
int become(std::vector<std::string> command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (auto& argument : command) {
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
  // What is still in a buffer of this program would be lost with it.
  (void)std::fflush(nullptr);
  execvp(arguments.front(), arguments.data());
  return errno;
}

ExitCode report(const CommandProblem& problem) {
  fmt::print(stderr, "gputest: {}\n", problem.text);
  return problem.code;
}

ExitCode report(const session::Outcome& outcome) {
  const bool skip = outcome.kind == session::Outcome::Kind::skip;
  fmt::print(stderr, "gputest: {}: {}\n", skip ? "skipped" : "failed", outcome.reason);
  return exit_code_of(outcome);
}

} // namespace

ExitCode exit_code_of(const session::Outcome& outcome) {
  switch (outcome.kind) {
  case session::Outcome::Kind::granted:
    return ExitCode::done;
  case session::Outcome::Kind::skip:
    return ExitCode::skipped;
  case session::Outcome::Kind::fail:
    break;
  }
  // A failure without a wait is a skip that a setting forbids, or a request beyond the lease that it runs under.
  return outcome.not_freed ? ExitCode::wait_limit : ExitCode::no_gpu;
}

ExitCode run_command(const RunArguments& arguments) {
  const policy::Settings settings = settings_of(arguments, system::read_variable);
  if (const auto problem = problem_with_command(arguments.command.front(), system::read_variable("PATH"))) {
    return report(*problem);
  }

  // Others shall see what runs, and not `gputest`.
  session::Session session{settings, name_of(settings, arguments.command)};
  session::Plan plan;
  plan.requirements.push_back(settings.requirement);
  if (const auto outcome = session.enter(plan); outcome.kind != session::Outcome::Kind::granted) {
    return report(outcome);
  }
  const auto outcome = session.acquire(settings.requirement, "");
  if (outcome.kind != session::Outcome::Kind::granted) {
    return report(outcome);
  }

  session.hand_over();
  return report(problem_of_exec(arguments.command.front(), become(arguments.command)));
}

} // namespace gputest::cli
