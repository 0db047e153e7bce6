// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace gputest::os {

// What Linux's /proc tells of a process. Nothing here throws for a process that is gone or belongs to another user:
// what cannot be read is empty. A pid is reused after its process has ended, so hold no decision about memory on one.

[[nodiscard]] pid_t own_pid();

/// A number that is another one if this process has had a child since the last call that is gone, or has forked one.
[[nodiscard]] std::uint64_t children_seen();

/// Whether this process has a child, or one that has ended and was not waited for.
[[nodiscard]] bool has_children();

/// Whether there is such a process; one that has ended and is not reaped yet still counts.
[[nodiscard]] bool exists(pid_t pid);

/// What becomes of a process; for messages only.
enum class ProcessState {
  running, ///< or held by a debugger, which lets it go on
  stopped, ///< by SIGSTOP or Ctrl-Z: it goes on when it is told to
  ending,  ///< its first thread has ended and others have not: the driver's, for a while, when a process ends
  ended    ///< there is no such process, or only its exit status is left
};

/// In which state it is; another process's, of another pid namespace, cannot be told from one that has ended.
[[nodiscard]] ProcessState state_of(pid_t pid);

/// Whether a signal has stopped the process with this pid that started at `start_time`: SIGSTOP, or Ctrl-Z. False if it
/// cannot be read, and for a process that a debugger holds.
[[nodiscard]] bool is_stopped(pid_t pid, std::uint64_t start_time);

/// Whether the process with this pid that started at `start_time` has ended, if pids_identity() is the same for it and
/// this process. False where its pid is that of a later process, and if its exit status is left but cannot be read.
[[nodiscard]] bool has_ended(pid_t pid, std::uint64_t start_time);

/// When it started, in the kernel's ticks since the machine's start; nullopt if it is gone. With the pid it tells a
/// process from a later one that has got the same pid.
[[nodiscard]] std::optional<std::uint64_t> start_time_of(pid_t pid);

/// A number for what pids and start times mean here: another one in another pid namespace, on another machine, and
/// after its next start. 0 if it cannot be read.
[[nodiscard]] std::uint64_t pids_identity();

/// The pid of its parent; nullopt for a process that has none or that is gone.
[[nodiscard]] std::optional<pid_t> parent_of(pid_t pid);

/// This process, which a launcher may have been before, or one above it.
struct Ancestor {
  std::int64_t pid = 0;
  std::uint64_t start_time = 0; ///< 0: not known
  std::uint32_t uid = 0;        ///< to whom the process belongs
};

/// This process, which may have been another program before, its parent, that one's parent, and so on; of a worker, the
/// ctest that it works for in place of its parent.
[[nodiscard]] std::vector<Ancestor> ancestors();

/// Its arguments, the program's name first.
[[nodiscard]] std::vector<std::string> command_line_of(pid_t pid);

/// A field of the text of a file /proc/<pid>/status, such as `Threads`; empty if there is none.
[[nodiscard]] std::string field_of_status(const std::string& status, const char* name);

/// Whether a debugger, or another tracer, holds the process, by that text.
[[nodiscard]] bool is_traced(const std::string& status);

/// A variable of the environment it was started with; nullopt if there is none, or if it may not be read.
[[nodiscard]] std::optional<std::string> variable_of(pid_t pid, const std::string& name);

/// Path of the program it runs, without the ` (deleted)` of one that was replaced; nullopt if it may not be read.
[[nodiscard]] std::optional<std::string> executable_of(pid_t pid);

/// All that /proc shows, but this one.
[[nodiscard]] std::vector<pid_t> all_other_processes();

/// Of a file: st_dev and st_ino.
using FileNumbers = std::pair<dev_t, ino_t>;

/// Whether it has one of these files open for writing; nullopt: its descriptors may not be looked at.
[[nodiscard]] std::optional<bool> has_open(pid_t pid, const std::vector<FileNumbers>& files);

/// `<pid> (<name>)`, for messages.
[[nodiscard]] std::string name_of_process(pid_t pid);

/// Its current working directory; nullopt if it may not be read.
[[nodiscard]] std::optional<std::string> working_directory_of(pid_t pid);

/// A ctest that runs tests.
struct CtestAncestor {
  pid_t pid = 0;
  std::vector<std::string> arguments; ///< without the program's name
};

/// The nearest ctest above this process that runs tests, or the one that it works for. One that only runs
/// `--build-and-test` is none: it may itself be a test of another. nullopt if there is none.
[[nodiscard]] std::optional<CtestAncestor> find_ctest();

/// The same, above another process.
[[nodiscard]] std::optional<CtestAncestor> find_ctest_above(pid_t pid);

/// Whether the parent of this process is a ctest that runs tests.
[[nodiscard]] bool is_child_of_ctest();

/// The same, or programs between them only run their arguments (`cmake -E`, timeout, time, strace), and end as those
/// do.
[[nodiscard]] bool is_command_of_ctest();

/// Where a ctest runs, and its own log.
struct CtestPlace {
  std::string folder;
  std::uint64_t log = 0; ///< FileStamp::id
  std::string log_file;  ///< its path in /proc; empty: there is no log
};

/// nullopt if it may not be read.
[[nodiscard]] std::optional<CtestPlace> ctest_place(pid_t ctest);

/// This process works for that ctest, which has not started it: a worker. Not while other threads look for a ctest.
void set_ctest_of_process(pid_t ctest, std::string why_started = {});
[[nodiscard]] bool is_worker();
[[nodiscard]] const std::string& why_worker_was_started();

} // namespace gputest::os
