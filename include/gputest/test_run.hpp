// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>

#include <memory>
#include <optional>
#include <string>

namespace gputest {

namespace policy {
struct Stopped;
}

/// Tells CTest that a program which uses gputest::Session itself has come to its end: `return report_end(failures);`
/// as the last line of main(). gputest::main, run_all_tests() and gputest::catch2 do it by themselves.
///
/// An entry of gpu_add_test() whose process ends without this call fails, because it is unknown whether its tests have
/// run. 0 means that they ran and passed, skipped_exit_code (77) that none could run. Returns what main() has to
/// return: `exit_code`, or 1 after an earlier call with a failure, or unwatched_skip_code. If main() ignores it and
/// returns 0, the process exits with it. Without CTest it does nothing else. Does not throw.
int report_end(int exit_code) noexcept;

namespace detail {

/// How the tests of a process declare what they need: `GPUTEST_NEEDS(Sort, keys, 3_GiB)`, `[gpu:3GiB]`, or
/// `@pytest.mark.gpu("3GiB")`.
enum class Notation { annotations, tags, marks };

/// The run of this process's tests, as CTest and the launcher see it. For the adapters to test frameworks.
///
/// If the process exits with 0 or 77 while tests run, it ends with a failure instead, and the message names the test.
/// So it does if it exits with 0 or 77 after tests have failed, and in an entry with 77 if gputest skipped nothing.
/// Nothing here throws.
class TestRun {
public:
  /// Reads GPUTEST_ENTRY the first time, and removes it: processes that a test starts are no entry. Not while other
  /// threads read the environment.
  static TestRun& of_process();

  /// Whether this process runs for an entry of gpu_add_test().
  [[nodiscard]] bool in_entry() const;

  /// What main() returns for `code`, which exit_code() has returned: 0 for a skip of which the end of this process
  /// tells CTest by itself. That is not so outside of an entry, nor where the process cannot report to its watcher, as
  /// in another container.
  [[nodiscard]] int code_of_main(int code) const;

  /// Whether tests that say nothing use no GPU, because the entry says MEMORY none.
  [[nodiscard]] bool no_gpu() const;

  /// Writes one line, `gputest: <text>`, to stderr; not where CTest judges the output of the entry. Then only who
  /// watches the entry writes, if it fails: what failed_by_gputest() and skipped() have said, among others.
  void say(const std::string& text) noexcept;

  /// The next run of tests is of another entry: reads GPUTEST_ENTRY and GPUTEST_TEST again, and forgets the run before
  /// it.
  void begin_next_case() noexcept;

  /// The tests begin. If they fail and the exit code is 0, `result` is what main() should have returned, as a message
  /// quotes it: `gputest::run_all_tests()`. A failure of any run of the process counts. Messages say in this notation
  /// what to write. False: one runs, and no other begins.
  bool begin(const std::string& result, Notation notation = Notation::annotations) noexcept;

  /// The test that runs now; empty between tests.
  void running(const std::string& test) noexcept;

  /// A test has leased so much of each of these devices (empty: of those of its lease, which has grown), for CTest.
  void note_lease(Bytes leased, const std::string& devices = {}) noexcept;

  /// A test has allocated so much of a device at one time; nullopt: nobody knows. In an entry of gpu_add_test() the
  /// most becomes a measurement of CTest's, `gputest_peak_mib`, if it is known of all tests.
  void note_peak(std::optional<Bytes> peak) noexcept;

  /// gputest itself has failed a test: it could not run, or took or left what it must not. Such a failure does not
  /// count as one that WILL_FAIL expects, and PASS_REGULAR_EXPRESSION does not make up for it.
  void failed_by_gputest(const std::string& why) noexcept;

  /// gputest has skipped a test. Returns what is to be printed of the reason: nothing, where CTest judges the output.
  std::string skipped(const std::string& why) noexcept;

  /// Why a test that the entry is for has not run in this process; empty: all have. The last call counts.
  void not_run(const std::string& why) noexcept;

  /// Whether tests run, between begin() and end().
  [[nodiscard]] bool is_running() const noexcept;

  /// Says why, and ends the process with 1, as a failure of gputest's. Returns if no test runs. From any thread.
  void end_as_failure(const std::string& why) noexcept;

  /// Whether a process watches this entry, and can run it again.
  [[nodiscard]] bool is_watched() const noexcept;

  /// Whether something has failed in an earlier attempt of this entry, and this one may write so.
  [[nodiscard]] bool has_failed_before() const noexcept;

  /// A check of a test has failed: a further run must not hide it. From any thread.
  void check_failed() noexcept;

  /// Ends the process before the test has more of a device than its lease: the watcher runs the entry again. If
  /// anything has failed in it, it ends with that failure. Returns if nobody watches. From any thread.
  void run_again(const policy::Stopped& stopped) noexcept;

  /// For a test that ran out of memory because others hold it, or because this process holds memory without a lease:
  /// ends the process, and the watcher runs the entry once more, alone. Returns if nobody watches, if anything else has
  /// failed in the process, or if this is the last attempt.
  void run_again_alone(const policy::Stopped& stopped) noexcept;

  /// What became of one test, for the run log.
  struct TestEnd {
    std::string suite;             ///< empty if the framework has none
    std::string name;              ///< within the suite
    const char* result = "passed"; ///< or `failed`, `skipped`
    double seconds = 0;
    std::string reason; ///< of a skip
    std::string file;   ///< where a GoogleTest test begins; empty: not known, or of another framework
    int line = 0;
  };
  void ended(const TestEnd& test) noexcept;

  /// `passed`: some may have been skipped. `all_skipped`: the process ends with skipped_exit_code, because of all
  /// tests, or of some that gputest skipped. `nothing_ran` is a failure. `listed`: the process was to list its tests,
  /// or to print a help, which is one only if no other process of the entry runs tests.
  enum class End { passed, failed, all_skipped, nothing_ran, listed };

  /// The tests have ended.
  void end(End how) noexcept;

  /// What main() has to return where the framework says `status`: a failure after any run that has failed. A `status`
  /// that is a failure counts, whatever end() was told, also if main() drops it. In an entry that nobody watches
  /// (MEMORY none), also if a test has not run, and unwatched_skip_code in place of skipped_exit_code.
  [[nodiscard]] int exit_code(int status) noexcept;

private:
  TestRun();
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace detail

} // namespace gputest
