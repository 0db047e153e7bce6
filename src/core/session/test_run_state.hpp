// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/test_run.hpp>

#include "core/os/mutex.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/report_target.hpp"
#include "core/policy/verdict.hpp"
#include "core/session/messages.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace gputest::detail {

/// The entry that this process runs for, and how far its tests have come.
struct TestRun::State {
  // From the environment, read once.
  bool in_entry = false;
  policy::ReportTarget report_target;
  bool no_gpu = false;
  std::string name;
  std::shared_ptr<os::TestStatusPage> page; ///< null: nobody watches

  std::atomic<bool> is_failed_by_gputest{false};
  std::atomic<bool> check_has_failed{false}; ///< of this process's case
  std::string not_run;                       ///< why a test of the entry did not; empty: all have
  bool not_run_is_said = false;

  os::Mutex mutex; ///< of what follows: any thread may exit
  bool running = false;
  std::optional<End> last_end;
  bool has_failed = false;   ///< any run of this process
  std::atomic<pid_t> pid{0}; ///< that has begun, since a forked process has a copy of all this
  std::string test;
  std::string result; ///< what main() has to return
  bool watches_exit = false;
  bool any_began = false;              ///< of the tests
  session::EntryMeasurements measured; ///< the most of all tests
  bool knows_peak = true;              ///< whether it is known of all of them

  void read_entry();
  void fail_by_gputest(const std::string& why);

  /// Whether this process has begun the run, not one that it has forked.
  [[nodiscard]] bool is_own() const { return pid == os::own_pid(); }

  /// Whether the process that has begun the run has forked this one, which goes on by itself. A program with a Session
  /// of its own begins none before its end.
  [[nodiscard]] bool is_forked() const { return pid != 0 && !is_own(); }

  /// Whether a test of this process has failed.
  [[nodiscard]] bool any_failed() const { return has_failed || check_has_failed; }

  // When the process ends (test_run_exit.cpp).

  void at_exit(int argument_of_exit);

  /// What the process has to end with where its program says `status`.
  [[nodiscard]] int code_of_end(int status) const;
  [[nodiscard]] int code_of_main(int code) const;

  /// In an entry without a watcher (MEMORY none): says which test has not run, and ends the process by a signal if
  /// CTest would not see its failure in an exit code.
  void end_if_unseen();

  /// Ends the process, whose run fails.
  [[noreturn]] void end_as_failure(const std::string& why);

  [[noreturn]] static void end_now(int status);
  static void log_end(int status);

  // When it is stopped (test_run_again.cpp).

  /// Ends the process, which was stopped, so that the watcher runs its entry again. If gputest has failed a test in it,
  /// returns why it was stopped instead: a further run must not hide that.
  [[nodiscard]] std::string end_to_run_again(const policy::Stopped& stopped, const std::string& what_follows) const;

private:
  void check_exit(int status);
  [[noreturn]] void fail_at_exit(const std::string& why, const std::string& remedy);
  [[nodiscard]] bool skips_with_0() const;
  [[nodiscard]] int code_of_skip() const;
  [[nodiscard]] bool is_skip(int status) const;
};

} // namespace gputest::detail
