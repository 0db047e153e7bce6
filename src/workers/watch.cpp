// SPDX-License-Identifier: BSD-3-Clause
#include "workers/watch.hpp"

#include "core/os/entry_page.hpp"
#include "core/os/environment.hpp"
#include "core/policy/time_limit.hpp"
#include "core/policy/verdict.hpp"
#include "workers/alone.hpp"
#include "workers/supervised_command.hpp"
#include "workers/test_case.hpp"
#include "workers/wait_status.hpp"

#include <gputest/error.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <unistd.h>

namespace gputest::workers {

namespace {

int failure_of_exec(const std::string& program, int error) {
  say("cannot execute " + program + ": " + ::strerror(error)); // NOLINT(concurrency-mt-unsafe): there is one thread
  return error == ENOENT ? 127 : 126;
}

int become(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (auto& argument : command) {
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  return failure_of_exec(command.front(), errno);
}

/// GPUTEST_TIMEOUT, which one process counts. One that cannot be used stays: the tests fail for it.
std::optional<policy::TimeLimit> take_time_limit() {
  auto limit = policy::parse_time_limit(variable("GPUTEST_TIMEOUT"));
  if (limit) {
    os::remove_variable("GPUTEST_TIMEOUT");
  }
  return limit;
}

} // namespace

int watch(std::vector<std::string> command) {
  const auto asks = variable("GPUTEST_ENTRY");
  if (asks.empty() || asks.front() == '/' || is_traced()) {
    return become(std::move(command));
  }
  const auto name = variable("GPUTEST_TEST").empty() ? command.front() : variable("GPUTEST_TEST");
  const bool is_seen = asks != "will_fail" && asks != "by_output"; // a failure in the exit code
  const auto end_unseen = [&] {
    say(policy::text_of_unseen_failure(name, asks == "will_fail"));
    return end_as(SIGKILL);
  };
  try {
    const os::EntryPage page;
    os::set_variable("GPUTEST_ENTRY", page.path());
    const auto limit = take_time_limit();
    const auto program = command.front();
    const auto end =
        run_supervised(std::move(command), {limit ? limit->duration : std::chrono::nanoseconds{0}, &page, {}});
    if (end.error != 0) {
      const int code = failure_of_exec(program, end.error);
      return is_seen ? code : end_unseen();
    }
    const auto report = page.report();
    if (end.timed_out) {
      say(policy::text_of_time_out({name, report.running, page.waited(), end.left_behind}, *limit));
      return is_seen ? EXIT_FAILURE : end_as(SIGKILL);
    }
    if (end.signal != 0) {
      return end_as(end.signal);
    }
    if (os::has_valgrind() && !page.tests_have_valgrind()) {
      say("failed: valgrind checks gputest-client only, not the tests that it starts. Set "
          "VALGRIND_OPTS=--trace-children=yes");
      return is_seen ? EXIT_FAILURE : end_as(SIGKILL);
    }
    const auto verdict = policy::judge(report, end.status, policy::EntryCommand::tests);
    if (!verdict.problem.empty()) {
      say("failed: " + verdict.problem);
    }
    return is_seen || verdict.meant_by_the_test ? verdict.exit_code : end_unseen();
  } catch (const Error& error) {
    say(std::string{"failed: "} + error.what());
    return is_seen ? EXIT_FAILURE : end_unseen();
  }
}

} // namespace gputest::workers
