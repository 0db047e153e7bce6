// SPDX-License-Identifier: BSD-3-Clause
#include "tool/run_command.hpp"

#include "core/os/entry_page.hpp"
#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/os/process_end.hpp"
#include "core/os/program_output.hpp"
#include "core/policy/verdict.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/device_session.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings_table.hpp"
#include "tool/command_path.hpp"
#include "tool/command_usage.hpp"
#include "tool/gpu_use.hpp"
#include "workers/entry_run.hpp"
#include "workers/process_end.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace gputest::tool {

namespace {

ExitCode report(const CommandProblem& problem) {
  fmt::print(stderr, "gputest: {}\n", problem.text);
  return problem.code;
}

ExitCode report(const Outcome& outcome) {
  const bool skip = outcome.kind == Outcome::Kind::skip;
  if (skip) {
    runlog::write("skip", runlog::skip_details(outcome));
  }
  fmt::print(stderr, "gputest: {}: {}\n", skip ? "skipped" : "failed", outcome.reason);
  return exit_code_of(outcome);
}

/// Ends this process as CTest sees a failure although it inverts exit codes, or does not look at them.
[[noreturn]] void fail_without_exit_code(const settings::EntryWatcher& watcher, const std::string& entry) {
  fmt::print(stderr, "gputest: {}\n", policy::text_of_unseen_failure(entry, watcher.will_fail));
  workers::end_by_signal(SIGKILL);
}

/// Runs the command for an entry of gpu_add_test(), as a child of this process, and ends as CTest is to see it.
///
/// The session is not given back: processes that the command has left behind may still use the device.
[[noreturn]] void supervise(session::DeviceSession& session, const RunArguments& arguments,
                            const settings::EntryWatcher& watcher) {
  static_cast<void>(settings::parse_time_limit(os::read_variable)); // refuses what is none
  std::optional<CommandUsage> usage;
  if (session.settings().meter != MeterSetting::off) {
    usage.emplace(session.machine(), session.indices());
  }
  workers::WatchedEntry entry;
  entry.name = session.entry().name.empty() ? arguments.command.front() : session.entry().name;
  entry.kind = policy::EntryCommand::any;
  entry.asks = watcher.will_fail ? "will_fail" : watcher.by_output ? "by_output" : "ctest";
  if (usage) {
    entry.look = [&] { usage->look(); };
  }
  entry.judge = [&](const workers::CommandEnd& end) {
    const auto used = usage ? usage->end() : devices::Usage{};
    session.log_end_of_command(used);
    if (!usage || end.signal != 0 || end.timed_out) {
      return std::vector<std::string>{};
    }
    const auto measured = session.judge_command(used);
    if (measured.peak > Bytes{}) {
      session::tell_peak(measured.peak);
    } else { // a lower bound of 0 says nothing
      fmt::print(stderr, "gputest: how much memory the command used is not known: {}\n", used.because);
    }
    return measured.problems;
  };
  const auto end = workers::run_entry(arguments.command, entry);
  const int signal = end.command.timed_out ? SIGKILL : end.command.signal;
  if (signal != 0) {
    runlog::write("end", runlog::JsonObject{}.number("signal", static_cast<unsigned>(signal)));
  } else if (end.command.error == 0) {
    runlog::write("end",
                                       runlog::JsonObject{}.number("exit", static_cast<unsigned>(end.exit_code)));
  }
  if (end.signal != 0) {
    workers::end_by_signal(end.signal);
  }
  os::end_now(end.exit_code);
}

/// Replaces this process by the command. Returns only if that fails.
ExitCode run_without_a_lease(const RunArguments& arguments) {
  return report(problem_of_exec(arguments.command.front(), os::become(arguments.command)));
}

/// Whether the command is to run at once, although this machine may have GPUs.
bool needs_no_lease(const RunArguments& arguments) {
  if (settings::test_list_file() || only_lists_tests(arguments.command)) {
    return true;
  }
  const auto uses = settings::parse_uses_gpu(os::read_variable);
  if (uses != settings::UsesGpu::automatic) {
    return uses == settings::UsesGpu::no;
  }
  const auto path = path_of_command(arguments.command.front(), os::read_variable("PATH"));
  return !path.empty() && find_gpu_use(path) != GpuUse::yes;
}

/// Says that nothing counts GPUTEST_TIMEOUT for a command that this process becomes.
void mention_time_limit(const RunArguments& arguments) {
  const auto& command = arguments.command.front();
  if (const auto value = os::read_variable("GPUTEST_TIMEOUT"); settings::parse_time_limit(os::read_variable)) {
    fmt::print(stderr,
               "gputest: GPUTEST_TIMEOUT={} is not a limit for {}: it counts in CTest's entries only. Elsewhere: "
               "gputest run -- timeout {} {}\n",
               *value, command, *value, command);
  }
}

/// Returns only if the command does not start.
ExitCode run_leased(const RunArguments& arguments, const settings::EntryWatcher& watcher) {
  settings::refuse_unknown_variables();
  const Run run = run_of(arguments, os::read_variable);
  if (const auto problem = problem_with_command(arguments.command.front(), os::read_variable("PATH"))) {
    return report(*problem);
  }

  // Other processes see the command's name, not `gputest`.
  session::DeviceSession session{run.settings, run.entry, name_of(run.entry, arguments.command)};
  Plan plan;
  plan.requests.push_back(run.entry.request);
  if (const auto outcome = session.enter(plan); outcome.kind != Outcome::Kind::granted) {
    if (arguments.if_gpu && session.has_no_gpu() && outcome.kind == Outcome::Kind::skip && !watcher.any()) {
      return run_without_a_lease(
          arguments); // CTest would take a 77 of an entry that gputest has not made for a failure
    }
    return report(outcome);
  }
  const auto outcome = session.acquire(run.entry.request, "");
  if (outcome.kind != Outcome::Kind::granted) {
    return report(outcome);
  }

  session.hand_over();
  if (watcher.ctest) {
    supervise(session, arguments, watcher);
  }
  mention_time_limit(arguments);
  return run_without_a_lease(arguments);
}

/// Tells the launcher above, if there is one, that this one's command was skipped, or else why it did not run: a script
/// may drop the exit code.
void report_to(const settings::EntryWatcher& watcher, bool skipped, const std::string& why) {
  const auto page = watcher.page.empty() ? nullptr : os::EntryPage::open(watcher.page);
  if (page && skipped) {
    page->begin();
    page->end(os::EntryPage::End::skipped);
  } else if (page) {
    page->refuse(why);
  }
}

/// What run_command() does, but for what it tells the launcher above of an error.
ExitCode run(const RunArguments& arguments, const settings::EntryWatcher& watcher) {
  const bool at_once = arguments.if_gpu && needs_no_lease(arguments);
  if (!watcher.believes_exit_code() && !at_once) {
    // What keeps the command from running is not the failure that is expected.
    try {
      if (run_leased(arguments, watcher) == ExitCode::skipped) {
        return ExitCode::skipped;
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "gputest: {}\n", error.what());
    }
    fail_without_exit_code(watcher, "the entry");
  }
  const auto code = at_once ? run_without_a_lease(arguments) : run_leased(arguments, watcher);
  report_to(watcher, code == ExitCode::skipped, fmt::format("'gputest run' did not run {}", arguments.command.front()));
  return code;
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
  const auto watcher = settings::parse_entry_watcher(os::read_variable);
  try {
    return run(arguments, watcher);
  } catch (const std::exception& error) {
    report_to(watcher, false, error.what());
    throw;
  }
}

} // namespace gputest::tool
