// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"
#include "core/os/kernel_clock.hpp"
#include "core/policy/report_target.hpp"
#include "core/policy/verdict.hpp"

#include <gputest/test_run.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

namespace gputest::os {

/// Whether valgrind runs this process.
[[nodiscard]] bool has_valgrind();

/// What the processes of an entry tell the process that watches it, in memory that they share: so neither their output
/// nor the descriptors that a test closes have a part in it. A word that was told stays, however its process ends.
///
/// The memory is a file without a name, of a sealed size: no process can make another one's access fail.
class TestStatusPage {
public:
  /// That of the watcher. Throws Error if there can be none.
  TestStatusPage();

  /// The page under a path (GPUTEST_ENTRY), for a process of the entry; null if it is gone, of another
  /// version, or the path is empty.
  [[nodiscard]] static std::shared_ptr<TestStatusPage> open(const std::string& path) noexcept;

  ~TestStatusPage() = default;
  TestStatusPage(const TestStatusPage&) = delete;
  TestStatusPage& operator=(const TestStatusPage&) = delete;

  /// Under which the processes of this user can open it, as long as the watcher is alive.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// For commands that may become another user or group, or enter another pid namespace: they cannot open the path.
  void let_commands_inherit() const noexcept;

  using End = detail::TestRun::End;

  void begin() const noexcept;
  void end(End how) const noexcept;
  /// The tests that have ended have failed all the same.
  void fail() const noexcept;
  /// A check of a test has failed, which goes on.
  void set_check_has_failed() const noexcept;
  /// gputest has failed a test. The first reason stays.
  void fail_by_gputest(const std::string& why) const noexcept;
  /// gputest has skipped a test, and has not said why. The first reason stays.
  void skip(const std::string& why) const noexcept;
  /// Why a test that the entry is for has not run; empty: all have. The last call counts.
  void set_not_run(const std::string& why) const noexcept;
  /// This process is stopped, and its entry is to run again. The last call counts. The attempt ends with the first:
  /// where the watcher ends its processes, this one is to be killed, and waits for that so that nobody sees it end.
  void set_stopped(const policy::Stopped& stopped) const noexcept;
  [[nodiscard]] bool is_stopped() const noexcept;
  /// exit() comes to its end in a process that runs one case after another.
  void set_exit_has_ended() const noexcept;
  /// The test that runs now; empty between tests.
  void set_running(const std::string& test) const noexcept;
  /// What the process that waits now waits for, with the names of those in its way.
  void set_waits_for(const std::string& text) const noexcept;

  [[nodiscard]] policy::EntryReport report() const;

  /// Whether a process has it mapped: it runs tests of the entry, or was forked by one that does. nullopt: its mappings
  /// cannot be read. Only for the watcher.
  [[nodiscard]] std::optional<bool> is_mapped_by(pid_t process) const;

  /// Whether a process had begun tests, and has gone without having ended them. Only for the watcher.
  [[nodiscard]] bool has_lost_a_process() const;

  /// The watcher ends the processes of an attempt of which one was stopped.
  void set_ends_attempts() const noexcept;

  /// Something has failed in an earlier attempt: a report of this one is to say it.
  void set_failed_before() const noexcept;
  [[nodiscard]] bool has_failed_before() const noexcept;

  /// For how long any of its processes has waited for devices until now. The time in which several wait counts once.
  /// What observe_waits() has seen to be no waiting does not count. Only for the watcher.
  [[nodiscard]] std::chrono::nanoseconds waited() const noexcept;

  /// Whether any of its processes waits. A process that was killed while it waited does so until the next call. The
  /// time between two calls that see only processes which are stopped, or which should have given up, is no waiting.
  /// Only for the watcher.
  [[nodiscard]] bool observe_waits() noexcept;

  /// For how long observe_waits() has seen that any of them waits without a break; 0: none does.
  [[nodiscard]] std::chrono::nanoseconds seen_waiting() const noexcept;

  [[nodiscard]] std::string waits_for() const;

  /// The watcher measures what its processes allocate, and tells CTest: they do not.
  void set_measured() const noexcept;
  [[nodiscard]] bool is_measured() const noexcept;

  /// CTest judges the entry by its output: its processes write nothing of gputest's into it.
  void set_output_is_judged() const noexcept;
  [[nodiscard]] bool output_is_judged() const noexcept;

private:
  struct Words;
  static constexpr auto unread = std::chrono::nanoseconds::max();
  TestStatusPage(const Descriptor& file, std::string path);
  [[nodiscard]] static std::shared_ptr<Words> map(const Descriptor& file);
  /// The same for all processes, in whichever time namespaces they are.
  [[nodiscard]] std::chrono::microseconds now() const noexcept;
  friend class PauseTimeLimit;

  Descriptor file_; ///< of the watcher alone: a test may close it, and a file of the test's may get its number
  std::string path_;
  std::shared_ptr<Words> words_;        ///< mapped
  mutable std::size_t slot_ = SIZE_MAX; ///< Words::in_tests: of the process that has begun tests
  /// Read by the processes that wait, which are few, and the watcher.
  mutable std::atomic<std::chrono::nanoseconds> clock_offset_{unread};
  std::optional<KernelClock::time_point> seen_waiting_since_;
  std::chrono::microseconds observed_at_{0};
  bool stands_still_ = false; ///< those that wait do not go on
  std::chrono::microseconds stood_still_{0};
};

/// What becomes of a line that gputest writes into this process's output.
enum class Output {
  free,     ///< people read it: no entry
  of_entry, ///< CTest shows it to people: without names that other users choose
  of_ctest, ///< of a test of CTest's that is no entry: by which it may be judged, so no notes
  judged,   ///< CTest judges the entry by it: only who fails the entry writes
};

/// Of a process that reports to `target`, whose page is this one; null: it has none.
[[nodiscard]] Output output_of(const policy::ReportTarget& target, const TestStatusPage* page) noexcept;
void set_output_of_process(Output output) noexcept;
[[nodiscard]] Output output_of_process() noexcept;
/// Whether it may have lines that say nothing is wrong.
[[nodiscard]] bool has_notes(Output output) noexcept;

/// The page of the entry for which this process runs tests; null: there is none.
void set_status_page_of_process(std::shared_ptr<TestStatusPage> page);
[[nodiscard]] std::shared_ptr<TestStatusPage> status_page_of_process();

/// The time for which one of these exists does not count towards the limit of this process's entry, for as long as
/// `longest` and some seconds. Thread-safe.
class PauseTimeLimit {
public:
  explicit PauseTimeLimit(std::chrono::nanoseconds longest);

  /// Those of this process that exist may last for `longest` from now on.
  static void extend(std::chrono::nanoseconds longest);

  ~PauseTimeLimit();
  PauseTimeLimit(const PauseTimeLimit&) = delete;
  PauseTimeLimit& operator=(const PauseTimeLimit&) = delete;

private:
  struct Wait;
  [[nodiscard]] static std::weak_ptr<Wait>& of_all();
  [[nodiscard]] static std::shared_ptr<Wait> existing(std::chrono::nanoseconds may_last);
  std::shared_ptr<Wait> wait_; ///< of all that this process has; null: of no entry
};

} // namespace gputest::os
