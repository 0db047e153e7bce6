// SPDX-License-Identifier: BSD-3-Clause
#include "tool/launcher.hpp"

#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/os/process_end.hpp"
#include "core/os/program_output.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/verdict.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/allowed_devices.hpp"
#include "core/session/gate.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"
#include "supervise/relays.hpp"
#include "supervise/wait_notice.hpp"
#include "supervise/watcher.hpp"
#include "tool/command_facts.hpp"
#include "tool/command_usage.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace gputest::tool {

namespace {

ExitCode report_not_executed(const std::string& command, int error) {
  return static_cast<ExitCode>(supervise::say_why_not_executed(command, error)); // 126 or 127
}

ExitCode report(const Outcome& outcome, const policy::ReportTarget& watcher) {
  const bool skip = outcome.kind == Outcome::Kind::skip;
  const auto page = os::TestStatusPage::open(watcher.page);
  if (skip && page && page->output_is_judged()) { // a script may go on, and not end with 77
    page->skip(outcome.reason);
  } else {
    fmt::print(stderr, "gputest: {}: {}\n", skip ? "skipped" : "failed", outcome.reason);
  }
  // A failure without a wait is a skip that a setting forbids, or a request that exceeds the parent lease.
  return skip ? ExitCode::skipped : outcome.not_freed ? ExitCode::wait_limit : ExitCode::no_gpu;
}

/// Ends this process by a signal, which CTest counts as a failure even if it inverts exit codes or ignores them.
[[noreturn]] void fail_without_exit_code(const policy::ReportTarget& watcher, const std::string& entry) {
  fmt::print(stderr, "gputest: {}\n",
             watcher.any() ? policy::message_for_forced_failure(entry, watcher.will_fail)
                           : "the test did not run, so it fails, whatever CTest expects of it (WILL_FAIL, "
                             "PASS_REGULAR_EXPRESSION)");
  supervise::end_by_signal(SIGKILL);
}

/// Runs the command for an entry of gpu_add_test(), as a child of this process, and ends as CTest is to see it.
///
/// The lease is not given back: processes that the command has left behind may still use the device.
[[noreturn]] void run_as_entry(session::Gate& gate, const Launch& launch, const policy::ReportTarget& watcher) {
  static_cast<void>(settings::parse_time_limit(os::read_variable)); // refuses what is none
  std::optional<CommandUsage> usage;
  if (gate.settings().meter != MeterSetting::off) {
    usage.emplace(gate.place().machine(), gate.place().chosen().indices);
  }
  supervise::WatchedEntry entry;
  entry.name = gate.entry().name.empty() ? launch.command.front() : gate.entry().name;
  entry.kind = policy::CommandKind::arbitrary;
  entry.will_fail = watcher.will_fail;
  entry.checks_output_only = watcher.checks_output_only;
  entry.skip_code = watcher.skip_code;
  if (usage) {
    entry.on_interval = [&] { usage->sample(); };
  }
  entry.judge = [&](const supervise::CommandEnd& end) {
    if (usage) {
      usage->sample(); // the command may have ended before the first sample, which says whether devices list processes
    }
    const auto used = usage ? usage->end() : devices::Usage{};
    if (!usage || end.signal != 0 || end.timed_out) {
      gate.log_end_of_command(used, std::nullopt);
      return std::vector<std::string>{};
    }
    const auto measured = gate.judge_command(used);
    const bool has_peak = measured.peak > Bytes{};
    auto needed = measured;
    needed.peak = usage->needed();
    gate.log_end_of_command(used, needed.peak > Bytes{} ? std::optional{needed} : std::nullopt);
    if (!watcher.checks_output_only) {
      supervise::end_unfinished_line();
    }
    session::tell_measurements(gate.measurements(has_peak ? std::optional{measured.peak} : std::nullopt));
    if (!has_peak &&
        (used.evidence == devices::Evidence::unknown || !gate.place().machine()->devices().front().simulated)) {
      // A lower bound of 0 says nothing of a GPU, and all of a command that no simulated device has listed.
      session::tell(fmt::format("how much memory the command used is not known: {}{}", used.because,
                                used.evidence == devices::Evidence::unknown ? "" : ", and showed none"));
    }
    return measured.problems;
  };
  const auto end = supervise::run_entry(launch.command, entry);
  const int signal = end.command.timed_out ? SIGKILL : end.command.signal;
  if (signal != 0) {
    runlog::write("end", runlog::JsonObject{}.number("signal", static_cast<unsigned>(signal)));
  } else if (end.command.error == 0) {
    runlog::write("end", runlog::JsonObject{}.number("exit", static_cast<unsigned>(end.exit_code)));
  }
  if (end.signal != 0) {
    supervise::end_by_signal(end.signal);
  }
  os::end_now(end.exit_code);
}

/// Replaces this process by the command. Returns only if that fails.
ExitCode run_without_a_lease(const Launch& launch) {
  return report_not_executed(launch.command.front(), os::become(launch.command));
}

/// Whether the command is to run at once, although this machine may have GPUs.
bool needs_no_lease(const Launch& launch) {
  if (settings::test_list_file() || only_lists_tests(launch.command)) {
    return true;
  }
  const auto uses = settings::parse_uses_gpu(os::read_variable);
  if (uses != settings::UsesGpu::automatic) {
    return uses == settings::UsesGpu::no;
  }
  const auto found = find_command(launch.command.front(), os::read_variable("PATH"));
  return found.error == 0 && find_gpu_use(found.file) != GpuUse::yes;
}

/// Whether the options or the environment declare that the command uses no GPU.
bool declares_no_gpu(const Launch& launch) {
  try {
    return settings::parse_entry(launch.read).no_gpu;
  } catch (const InvalidSetting&) { // run_leased() reads it again, and reports it
    return false;
  }
}

/// Says that nothing counts GPUTEST_TIMEOUT for a command that this process becomes.
void mention_time_limit(const Launch& launch) {
  const auto& command = launch.command.front();
  if (const auto value = os::read_variable("GPUTEST_TIMEOUT"); settings::parse_time_limit(os::read_variable)) {
    session::tell(fmt::format("GPUTEST_TIMEOUT={} is not a limit for {}: it counts in CTest's entries only. Elsewhere: "
                              "gputest run -- timeout {} {}",
                              *value, command, *value, command));
  }
}

/// The name under which others see this run: the test's, if it has one, else the command's without its folder.
std::string name_of(const Entry& entry, const std::string& command) {
  return entry.name.empty() ? command.substr(command.find_last_of('/') + 1) : entry.name;
}

/// Returns only if the command does not start.
ExitCode run_leased(const Launch& launch, const policy::ReportTarget& watcher) {
  settings::refuse_unknown_variables();
  const Settings settings = settings::parse_settings(launch.read);
  const Entry entry = settings::parse_entry(launch.read);
  if (const auto found = find_command(launch.command.front(), os::read_variable("PATH")); found.error != 0) {
    return report_not_executed(launch.command.front(), found.error);
  }

  std::optional<os::TestStatusPage> page; // nobody else watches this process
  supervise::WaitNotice notice;
  // Other processes see the command's name, not `gputest`.
  session::Gate gate{settings, entry, name_of(entry, launch.command.front())};
  if (watcher.ctest) {
    page.emplace();
    os::set_status_page_of_process(os::TestStatusPage::open(page->path()));
    gate.while_waiting([&](const std::string& /*text*/) {
      static_cast<void>(page->observe_waits());
      notice.print_if_due(*page);
    });
  }
  if (runs_script(launch.command, os::read_variable("PATH"))) { // it may choose devices itself by ctest's numbers
    session::keep_allocation();
  }
  Plan plan;
  plan.requests.push_back(entry.request);
  const auto entered = gate.enter(plan, session::Gate::Role::command);
  const bool has_no_gpu = entered.kind == Outcome::Kind::skip && entered.cause == SkipCause::no_gpu;
  if (launch.if_gpu && has_no_gpu && !watcher.any()) {
    return run_without_a_lease(launch); // CTest would take a 77 of an entry that gputest has not made for a failure
  }
  const auto outcome = gate.lease(entry.request, "").outcome; // that of enter(), if it has no devices
  if (outcome.kind != Outcome::Kind::granted) {
    return report(outcome, watcher);
  }

  gate.hand_over();
  if (watcher.ctest && !os::has_valgrind()) { // a second one would write over the log of the command's
    run_as_entry(gate, launch, watcher);
  }
  mention_time_limit(launch);
  return run_without_a_lease(launch);
}

/// Tells the launcher above, if there is one, that this one's command was skipped, or else why it did not run: a script
/// may drop the exit code.
void report_to(const policy::ReportTarget& watcher, bool skipped, const std::string& why) {
  const auto page = os::TestStatusPage::open(watcher.page);
  if (page && skipped) {
    page->begin();
    page->end(os::TestStatusPage::End::all_skipped);
  } else if (page) {
    page->fail_by_gputest(why);
  }
}

/// What launch_command() does, but for what it tells the launcher above of an error.
ExitCode run(Launch launch, const policy::ReportTarget& watcher) {
  auto& program = launch.command.front();
  // A script of an entry that nobody watches has its GPUTEST_ENTRY, too, but no such log.
  if (watcher.ctest && !os::variable("GPUTEST_DEFAULT_LOG").empty()) {
    program = supervise::find_as_ctest(program);
  }
  if (program.empty() && !watcher.believes_exit_code()) {
    fail_without_exit_code(watcher, "the entry");
  } else if (program.empty()) {
    return ExitCode::not_found;
  }
  const bool uses_no_gpu = declares_no_gpu(launch);
  if (uses_no_gpu) { // also for the tests of a command that uses gputest itself
    os::set_variable("GPUTEST_MEMORY", "none");
    os::remove_variable("GPUTEST_GPUS");
  }
  const bool at_once = uses_no_gpu || (launch.if_gpu && needs_no_lease(launch));
  // CMAKE_TEST_LAUNCHER starts a test of whose properties nobody tells this process.
  const bool may_expect_failure = launch.if_gpu && !watcher.any() && os::is_child_of_ctest();
  if ((!watcher.believes_exit_code() || may_expect_failure) && !at_once) {
    // An error that keeps the command from running is not the failure that WILL_FAIL expects.
    try {
      if (run_leased(launch, watcher) == ExitCode::skipped) {
        return ExitCode::skipped;
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "gputest: {}\n", error.what());
    }
    fail_without_exit_code(watcher, "the entry");
  }
  const auto code = at_once ? run_without_a_lease(launch) : run_leased(launch, watcher);
  report_to(watcher, code == ExitCode::skipped, fmt::format("'gputest run' did not run {}", launch.command.front()));
  return code;
}

} // namespace

ExitCode launch_command(const Launch& launch) {
  const auto watcher = policy::parse_report_target(os::variable("GPUTEST_ENTRY"));
  os::set_output_of_process(os::output_of(watcher, os::TestStatusPage::open(watcher.page).get()));
  try {
    return run(launch, watcher);
  } catch (const std::exception& error) {
    report_to(watcher, false, error.what());
    throw;
  }
}

} // namespace gputest::tool
