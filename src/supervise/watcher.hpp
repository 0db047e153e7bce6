// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/verdict.hpp"
#include "supervise/supervised_command.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gputest::supervise {

/// Writes one line, `gputest: <text>`, to stderr, after end_unfinished_line().
void say(const std::string& text);

/// What CTest has this process run and watch.
struct WatchedEntry {
  std::string name; ///< for messages; empty: that of the command
  policy::CommandKind kind = policy::CommandKind::gputest_executable;
  bool will_fail = false;          ///< CTest inverts the exit code, or
  bool checks_output_only = false; ///< it judges by the output: nothing is written unless gputest fails the entry
  int skip_code = 0;               ///< with which the command says that it has skipped itself; 0: with none
  std::function<void()> on_interval = {}; ///< is called about ten times a second; may be empty
  /// Is called when the command has ended, and returns further reasons why the entry fails; may be empty.
  std::function<std::vector<std::string>(const CommandEnd&)> judge = {};
};

/// How an entry ends, as CTest is to see it. All messages about that have been written.
struct EntryEnd {
  CommandEnd command;
  policy::EntryReport report;
  int exit_code = 0;
  int signal = 0; ///< the watcher has to end by it; 0: it exits
};

/// Runs the command of an entry as a child, with a page (GPUTEST_ENTRY) and the time limit of GPUTEST_TIMEOUT, and
/// judges how it has ended. Blocks until then. Throws Error if there can be no page.
///
/// If a process of it was stopped (policy::StopCause), the command runs again, and only the last attempt is judged.
/// `first` is the report of a first attempt that was stopped elsewhere: in a worker.
[[nodiscard]] EntryEnd run_entry(std::vector<std::string> command, const WatchedEntry& entry,
                                 const policy::EntryReport& first = {});

/// Runs the command of an executable with tests for the entry that GPUTEST_ENTRY and GPUTEST_TEST name, and ends as
/// CTest is to see it: returns an exit code, or ends this process by a signal. Becomes the command if no ctest has
/// started it for an entry, if valgrind runs this process, or if a debugger holds it and there is no ctest above it.
/// `first`: as for run_entry().
[[nodiscard]] int watch_tests(std::vector<std::string> command, const policy::EntryReport& first = {});

/// The absolute path of the file that CTest takes for the program of a test: in the working directory, or in a folder
/// of a configuration there, else, if it is a bare name, in CTest's PATH. Empty if there is none, after saying that.
[[nodiscard]] std::string find_as_ctest(const std::string& program);

/// Says why a program could not be executed, by errno's value. Returns the exit code that shells have for that.
[[nodiscard]] int say_why_not_executed(const std::string& program, int error);

} // namespace gputest::supervise
