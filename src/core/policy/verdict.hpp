// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace gputest::policy {

/// Why a process was ended so that its entry runs again.
enum class StopCause : std::uint32_t {
  none,
  small_lease,  ///< it was about to take more than its estimated lease, which could not grow
  own_unleased, ///< what it takes without a lease left no room
  others,       ///< other processes had memory that it had leased, or should have leased
};

struct Stopped {
  StopCause cause = StopCause::none;
  Bytes leased{};   ///< of each device; 0: it had no lease
  Bytes needed{};   ///< small_lease: of the device of which it would have had most
  Bytes taken{};    ///< others: by tests beyond their estimated leases, as far as that is known
  Bytes possible{}; ///< small_lease: as large a part of a whole device, if the test asked what is free

  explicit operator bool() const { return cause != StopCause::none; }
};

/// Why a process was stopped, without a full stop.
[[nodiscard]] std::string text_of_stop(const std::string& who, const Stopped& stopped);

/// What the processes of an entry have told of their tests (core/os/test_status_page).
struct EntryReport {
  unsigned begun = 0;               ///< runs of tests
  unsigned ended = 0;               ///< of these
  unsigned skipped = 0;             ///< of these: no test ran, or gputest skipped one
  unsigned nothing_ran = 0;         ///< of these: no test was selected, or tests were listed
  std::string failed_by_gputest;    ///< why gputest has failed a test; empty: it has not
  std::string running;              ///< the test that ran last; empty: none, or it had ended
  unsigned failed = 0;              ///< the process of the last of these in which tests failed; 0: in none
  std::string skipped_because = {}; ///< why gputest has skipped a test, if it has not said so; empty: it has, or none
  std::string not_run = {};         ///< why a test that the entry is for has not run; empty: all have
  Stopped stopped = {};             ///< the entry is to run again
  bool exit_has_ended = false;      ///< exit() came to its end, in a process that runs one case after another
  bool check_has_failed = false;    ///< in any of its processes, whether its tests have ended or not

  /// Whether anything of it has failed, which a further run must not hide.
  [[nodiscard]] bool has_failed() const { return failed != 0 || check_has_failed; }
};

/// What runs in an entry.
enum class CommandKind {
  gputest_executable, ///< an executable that runs its tests by gputest
  arbitrary,          ///< whatever the launcher runs: it need not use gputest
};

/// What the process that watches an entry makes of the end of its command.
struct Verdict {
  int exit_code = 0;
  std::string problem;              ///< why the exit code is not the command's; empty if it is
  bool counts_for_will_fail = true; ///< whether this failure may be the one that WILL_FAIL expects
};

/// Judges by the command's exit code and by what its processes have told. Pure.
///
/// The exit code is the command's, with two exceptions. 77 is a skip only if gputest said so, because other programs
/// use the number for something else. 0 is no success if tests have begun and not ended, if none ran, or if gputest has
/// failed one. Below the launcher a script may have dropped an exit code, and may expect that tests fail, so 0 is a
/// success if they only did that. `skip_code`, if it is not 0, is how the command itself says that it has skipped; the
/// exit code for CTest is then 77.
[[nodiscard]] Verdict judge(const EntryReport& report, int exit_code, CommandKind command, int skip_code = 0);

/// What is said when the watcher ends by SIGKILL because CTest would not see a failure in an exit code. `will_fail`: it
/// inverts them; else it judges by the output (PASS_, FAIL_ or SKIP_REGULAR_EXPRESSION).
[[nodiscard]] std::string message_for_forced_failure(const std::string& entry, bool will_fail);

/// Whether a command that ended like that runs again because a process of it was stopped. Not if gputest has failed
/// anything of it, or its own process was ended by a signal: that counts. Pure.
[[nodiscard]] bool runs_again(const EntryReport& report, int signal);

/// Whether output that CTest judges is shown only when its attempt has ended, in an entry with this GPUTEST_MEMORY:
/// where nobody declares any. Pure.
[[nodiscard]] bool is_withheld(const std::optional<std::string>& memory);

/// How often an entry may run, from GPUTEST_ATTEMPTS: 3, unless that says 1 or 2. Pure.
[[nodiscard]] int parse_attempts(const std::string& text);

/// How an entry runs again whose process was stopped.
struct NextAttempt {
  int number = 0;      ///< 0: it may not run again
  Bytes lease;         ///< for which it waits; 0: whole devices
  bool alone = false;  ///< whatever its tests ask for, nobody else uses their devices meanwhile
  std::string because; ///< why it runs again
  std::string text;    ///< what a user reads: the reason, and what happens now
};

/// After `attempt` of at most `attempts` of the entry. The second one leases what the test asked for and an eighth
/// more, since a test that is stopped often needs more later, or what is possible, if that is more. The third one,
/// which is the last, has whole devices. After memory that others had taken, or that it takes without a lease, only the
/// last one is left, alone. Pure.
[[nodiscard]] NextAttempt next_attempt(const std::string& entry, const EntryReport& report, int attempt, int attempts);

/// How long the command of an entry may run.
struct TimeLimit {
  std::chrono::milliseconds duration{};
  std::string text;             ///< `2.5 s`, as it was written
  std::string signal_name = {}; ///< `SIGINT`: what the test is sent first (TIMEOUT_SIGNAL_NAME); empty: it is killed
  std::chrono::milliseconds grace{1000}; ///< after that, before it is killed (TIMEOUT_SIGNAL_GRACE_PERIOD)

  /// The number of `signal_name`; 0: none.
  [[nodiscard]] int signal() const;
};

/// Reads seconds, such as 90, 2.5 or .5, up to 999999999, as gpu_add_test() takes TIMEOUT, and after them the signal
/// that CTest's TIMEOUT_SIGNAL_NAME names and the seconds of TIMEOUT_SIGNAL_GRACE_PERIOD: `90 SIGINT 2.5`. Without
/// these seconds it is 1, as with CTest. nullopt if it is not that.
[[nodiscard]] std::optional<TimeLimit> parse_time_limit(const std::string& text);

/// What a run was doing when its time was over.
struct TimedOut {
  std::string entry;
  std::string running;                ///< the test; may be empty
  std::chrono::nanoseconds waited{0}; ///< for GPUs
  std::string left_behind;            ///< processes that hold the output of a command that has ended; empty: it runs
};

/// `timed out: …`, the reason that a user reads.
[[nodiscard]] std::string text_of_time_out(const TimedOut& run, const TimeLimit& limit);

} // namespace gputest::policy
