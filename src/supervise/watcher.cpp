// SPDX-License-Identifier: BSD-3-Clause
#include "supervise/watcher.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/program_output.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/report_target.hpp"
#include "core/policy/text.hpp"
#include "core/policy/verdict.hpp"
#include "supervise/relays.hpp"
#include "supervise/wait_notice.hpp"

#include <gputest/outcome.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace gputest::supervise {

void say(const std::string& text) {
  end_unfinished_line();
  const auto line = "gputest: " + text + "\n";
  static_cast<void>(::write(STDERR_FILENO, line.data(), line.size()) < 0);
}

int say_why_not_executed(const std::string& program, int error) {
  const bool is_path = program.find('/') != std::string::npos;
  const bool is_missing = error == ENOENT || error == ENOTDIR;
  say(!is_missing ? "cannot execute '" + program + "': " + ::strerror(error) + // NOLINT: one thread
                        (error == EACCES ? "; it has to be a file with execute permission" : "")
      : is_path
          ? "cannot find the command '" + program + "': there is no such file, or the interpreter it names is missing"
          : "cannot find the command '" + program + "' in any folder of PATH; give its path if it is elsewhere");
  return is_missing ? 127 : 126;
}

namespace {

/// The PATH of the ctest that has started this process. The properties of the entry may have changed it, and then have
/// changed the `*` of GPUTEST_PATH likewise. /proc shows only what ctest was started with.
std::string path_of_ctest() {
  auto path = os::variable("PATH");
  const auto changes = os::read_variable("GPUTEST_PATH");
  if (!changes) {
    return path;
  }
  os::remove_variable("GPUTEST_PATH"); // of this entry only
  const auto at = changes->find('*');
  const auto added = changes->size() - 1;
  if (at != std::string::npos && path.size() >= added) {
    const auto of_ctest = path.substr(at, path.size() - added);
    if (changes->substr(0, at) + of_ctest + changes->substr(at + 1) == path) {
      return of_ctest;
    }
  }
  const auto ctest = os::find_ctest();
  return (ctest ? os::variable_of(ctest->pid, "PATH") : std::nullopt).value_or(path);
}

} // namespace

std::string find_as_ctest(const std::string& program) {
  namespace fs = std::filesystem;
  const auto path = path_of_ctest();
  const auto folder_of_program = fs::path{program}.parent_path();
  std::vector<std::string> configurations{"Release",        "Debug",      "MinSizeRel",
                                          "RelWithDebInfo", "Deployment", "Development"};
  if (const auto chosen = os::read_variable("CMAKE_CONFIG_TYPE")) { // CTest sets it to that of -C
    configurations = {*chosen};
  }
  std::vector<fs::path> folders{folder_of_program};
  for (const auto& configuration : configurations) {
    folders.push_back(folder_of_program / configuration);
  }
  const auto before_path = folders.size();
  if (folder_of_program.empty()) {
    for (const auto& folder : policy::parts_of(path, ':')) {
      folders.emplace_back(folder.empty() ? "/" : folder);
    }
  }
  std::string seen;
  std::error_code error;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const auto file = (fs::current_path(error) / folders[i] / fs::path{program}.filename()).lexically_normal();
    const auto status = fs::status(file, error);
    if (i < before_path ? fs::exists(status) && !fs::is_directory(status)
                        : os::why_not_executable(file.string()) == 0) {
      return file.string();
    }
    seen += (seen.empty() ? "" : ", ") + file.parent_path().string();
  }
  say("cannot find the command '" + program + "' in the folders where CTest looks for it: " + seen +
      ". Write its path");
  return "";
}

namespace {

/// Why CTest must not see a success.
policy::Verdict judge(const WatchedEntry& entry, const EntryEnd& end, const os::TestStatusPage& page,
                      const std::string& program, const std::optional<policy::TimeLimit>& limit) {
  if (end.command.error != 0) {
    return {say_why_not_executed(program, end.command.error), "", false};
  }
  if (end.command.timed_out) {
    say(policy::text_of_time_out({entry.name, end.report.running, page.waited(), end.command.left_behind}, *limit));
    return {EXIT_FAILURE, "", false};
  }
  const bool is_for_tests = entry.kind == policy::CommandKind::gputest_executable;
  if (is_for_tests && ::access(page.path().c_str(), F_OK) != 0) {
    return {EXIT_FAILURE, "the tests cannot report to gputest-entry: there is no " + page.path() + ". Mount /proc",
            false};
  }
  // A command whose own process has failed tests runs them by gputest, and decides nothing for others as a script does.
  const bool runs_tests = end.report.failed == static_cast<unsigned>(end.command.process);
  const auto kind = runs_tests ? policy::CommandKind::gputest_executable : entry.kind;
  return policy::judge(end.report, end.command.status, kind, entry.skip_code);
}

/// A file name for an entry, of at most 255 bytes with what follows it. Names of other entries have others.
std::string file_name_of(const std::string& entry) {
  constexpr std::size_t longest = 200;
  auto name = entry.substr(0, longest);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == '/'; }, '_');
  return name == entry ? name : name + "-" + std::to_string(policy::fnv1a(entry));
}

/// GoogleTest writes a report whose path ends with a slash to a file that is not there yet, and two processes may
/// choose the same one. So each entry has a name of its own there, and a command that may start several programs has a
/// folder.
std::string with_name(const std::string& output, const WatchedEntry& entry, bool is_one_program) {
  const auto colon = output.find(':');
  if (entry.name.empty() || colon == std::string::npos || output.back() != '/') {
    return output;
  }
  return output + file_name_of(entry.name) + (is_one_program ? "." + output.substr(0, colon) : "/");
}

void name_reports(std::vector<std::string>& command, const WatchedEntry& entry) {
  const std::string option = "--gtest_output=";
  for (auto& word : command) {
    if (policy::starts_with(word, option)) {
      word = option + with_name(word.substr(option.size()), entry, true);
    }
  }
  if (const auto output = os::read_variable("GTEST_OUTPUT")) {
    os::set_variable("GTEST_OUTPUT", with_name(*output, entry, entry.kind == policy::CommandKind::gputest_executable));
  }
}

/// How often the entry may run.
int attempts_of(const WatchedEntry& entry) {
  return entry.kind == policy::CommandKind::arbitrary ? 1 : policy::parse_attempts(os::variable("GPUTEST_ATTEMPTS"));
}

/// The end of an entry for a failure that CTest does not expect: by a signal if CTest would not see an exit code.
EntryEnd with_forced_failure(EntryEnd end, const WatchedEntry& entry) {
  if (entry.will_fail || entry.checks_output_only) {
    say(policy::message_for_forced_failure(entry.name, entry.will_fail));
    end.signal = SIGKILL;
  }
  return end;
}

/// Whether it is an executable that runs as another user or group, who cannot open the page.
bool changes_ids(const std::string& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0 && S_ISREG(status.st_mode);
}

/// Runs the command once. If a process of it was stopped, nothing is said and judged.
EntryEnd run_once(const std::vector<std::string>& command, const WatchedEntry& entry, os::TestStatusPage& page,
                  const std::optional<policy::TimeLimit>& limit, bool may_run_again) {
  const bool is_arbitrary = entry.kind == policy::CommandKind::arbitrary;
  if (is_arbitrary) {
    page.set_measured();
  }
  if (is_arbitrary || ::geteuid() == 0 || std::any_of(command.begin(), command.end(), changes_ids)) {
    page.let_commands_inherit();
  }
  if (entry.checks_output_only) {
    page.set_output_is_judged();
  }
  page.set_ends_attempts();
  os::set_variable("GPUTEST_ENTRY", page.path());
  EntryEnd end;
  WaitNotice notice;
  Watch watch{limit ? limit->duration : std::chrono::nanoseconds{0}, &page, {}};
  watch.withholds_output =
      entry.checks_output_only && may_run_again && policy::is_withheld(os::read_variable("GPUTEST_MEMORY"));
  watch.first_signal = limit ? limit->signal() : 0;
  watch.grace = limit ? limit->grace : std::chrono::milliseconds{0};
  watch.interval = std::chrono::milliseconds{entry.on_interval ? 100 : 1000};
  watch.on_interval = [&] {
    notice.print_if_due(page);
    if (entry.on_interval) {
      entry.on_interval();
    }
  };
  end.command = run_supervised(command, watch);
  end.report = page.report();
  if (end.command.runs_again) {
    return end;
  }
  end.report.stopped = {};
  const auto problems = entry.judge && end.command.error == 0 ? entry.judge(end.command) : std::vector<std::string>{};
  if (end.command.signal != 0 && !end.command.timed_out) {
    end.signal = end.command.signal;
    return end;
  }
  auto verdict = judge(entry, end, page, command.front(), limit);
  if (!verdict.problem.empty() && !(entry.checks_output_only && verdict.counts_for_will_fail)) {
    say("failed: " + verdict.problem);
  } else if (entry.checks_output_only && !verdict.counts_for_will_fail && !end.report.failed_by_gputest.empty()) {
    say("failed: " + end.report.failed_by_gputest); // its processes have said nothing
  } else if (verdict.exit_code == skipped_exit_code && !end.report.skipped_because.empty()) {
    say("skipped: " + end.report.skipped_because);
  }
  for (const auto& problem : problems) {
    say("failed: " + problem);
    verdict = {does_not_fail(verdict.exit_code) ? EXIT_FAILURE : verdict.exit_code, problem, false};
  }
  end.exit_code = verdict.exit_code;
  return verdict.counts_for_will_fail ? end : with_forced_failure(std::move(end), entry);
}

/// Says that the entry runs again, and sets the environment of that attempt. Its number; 0: it may not, which is a
/// failure.
int prepare_next_attempt(const WatchedEntry& entry, const policy::EntryReport& report, int attempt) {
  const auto next = policy::next_attempt(entry.name, report, attempt, attempts_of(entry));
  if (next.number == 0 || !entry.checks_output_only) {
    say(next.text);
  }
  if (next.number != 0) {
    os::set_variable("GPUTEST_ATTEMPT", std::to_string(next.number));
    os::set_variable("GPUTEST_ATTEMPT_BECAUSE", next.because);
    os::set_variable("GPUTEST_LEARNED", next.lease == Bytes{} ? "1024TiB" : std::to_string(next.lease.count()) + "B");
  }
  if (next.alone) {
    const auto memory = os::read_variable("GPUTEST_MEMORY").value_or("auto");
    const bool is_alone = memory.find(" alone") != std::string::npos;
    os::set_variable("GPUTEST_MEMORY", (memory.empty() ? "auto" : memory) + (is_alone ? "" : " alone"));
  }
  return next.number;
}

} // namespace

EntryEnd run_entry(std::vector<std::string> command, const WatchedEntry& entry, const policy::EntryReport& first) {
  block_in_this_process(SIGXFSZ);
  name_reports(command, entry);
  const auto limit = policy::parse_time_limit(os::variable("GPUTEST_TIMEOUT"));
  if (limit) { // which one process counts, for each attempt. One that cannot be used stays: the tests fail for it
    os::remove_variable("GPUTEST_TIMEOUT");
  }
  EntryEnd end;
  end.report = first;
  bool has_failed = false; // before it was stopped: no further run may hide that
  for (int attempt = 1;;) {
    has_failed = has_failed || end.report.has_failed();
    if (end.report.stopped && (attempt = prepare_next_attempt(entry, end.report, attempt)) == 0) {
      end.exit_code = EXIT_FAILURE;
      return with_forced_failure(std::move(end), entry);
    }
    os::TestStatusPage page;
    if (has_failed) {
      page.set_failed_before();
    }
    end = run_once(command, entry, page, limit, attempt < attempts_of(entry));
    if (!end.command.runs_again) {
      if (has_failed && end.signal == 0 && does_not_fail(end.exit_code)) {
        say("failed: a test of " + entry.name + " had failed before the entry was stopped and ran again, which counts");
        end.exit_code = EXIT_FAILURE;
      }
      return end;
    }
  }
}

int watch_tests(std::vector<std::string> command, const policy::EntryReport& first) {
  const auto target = policy::parse_report_target(os::variable("GPUTEST_ENTRY"));
  const auto program = command.front();
  if (!target.ctest || (os::is_traced(os::record_of_proc("/proc/self/status").value_or("")) && !os::find_ctest())) {
    return say_why_not_executed(program, os::become(std::move(command)));
  }
  const auto name = os::variable("GPUTEST_TEST");
  const WatchedEntry entry{name.empty() ? program : name, policy::CommandKind::gputest_executable, target.will_fail,
                           target.checks_output_only, target.skip_code};
  command.front() = find_as_ctest(program);
  if (os::has_valgrind() && !command.front().empty()) { // a second one would write over the same log
    name_reports(command, entry);
    os::set_variable("GPUTEST_ENTRY", os::variable("GPUTEST_ENTRY") + policy::valgrind_expected);
    return say_why_not_executed(program, os::become(std::move(command)));
  }
  EntryEnd end;
  end.exit_code = 127;
  end = command.front().empty() ? with_forced_failure(end, entry) : run_entry(std::move(command), entry, first);
  return end.signal != 0 ? (end_by_signal(end.signal), EXIT_FAILURE) : end.exit_code;
}

} // namespace gputest::supervise
