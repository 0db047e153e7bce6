// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/test_run_state.hpp"

#include "core/os/process.hpp"
#include "core/os/process_end.hpp"
#include "core/runlog/run_log.hpp"

#include <gputest/outcome.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace gputest::detail {

void TestRun::State::log_end(int status) {
  runlog::write("end", runlog::JsonObject{}.number("exit", static_cast<unsigned>(status)));
}

void TestRun::State::end_now(int status) {
  log_end(status);
  os::end_now(status);
}

void TestRun::State::at_exit(int argument_of_exit) {
  const int status = argument_of_exit & 0xff;     // what the parent sees
  std::unique_lock lock{mutex, std::try_to_lock}; // not held: exit() was called out of one of TestRun's functions
  if (!lock || !is_own()) {
    return;
  }
  end_if_unseen();
  check_exit(status);
  end_if_unseen();
  const int code = code_of_end(status);
  if (code == EXIT_FAILURE && status != code) {
    end_now(code);
  }
  log_end(is_skip(code) || code != status ? skipped_exit_code : code);
  if (code != status && report_target.ctest) { // a skip; else the watcher does this
    lock.unlock();
    std::exit(code); // NOLINT(concurrency-mt-unsafe): glibc goes on with the handlers that are left
  }
}

/// Where nobody watches it: CTest knows another code of a skip, or a script may take it for a failure, and what comes
/// after it would not run.
bool TestRun::State::skips_with_0() const {
  return report_target.ctest && report_target.may_be_script &&
         (report_target.skip_code != 0 || !os::is_command_of_ctest());
}

int TestRun::State::code_of_skip() const {
  return report_target.ctest && !report_target.expects_valgrind && no_gpu ? unwatched_skip_code : skipped_exit_code;
}

bool TestRun::State::is_skip(int status) const { return status == skipped_exit_code || status == code_of_skip(); }

int TestRun::State::code_of_main(int code) const {
  return is_skip(code) && (page || report_target.ctest) ? EXIT_SUCCESS : code;
}

int TestRun::State::code_of_end(int status) const {
  if (status != EXIT_SUCCESS && !is_skip(status)) {
    return status;
  }
  if (has_failed || (report_target.ctest && !not_run.empty())) {
    return EXIT_FAILURE;
  }
  const bool skips = is_skip(status) || (in_entry && last_end == End::all_skipped);
  return !skips ? status : skips_with_0() ? EXIT_SUCCESS : code_of_skip();
}

void TestRun::State::end_if_unseen() {
  if (!report_target.ctest || (not_run.empty() && !is_failed_by_gputest)) {
    return;
  }
  const bool unseen = !report_target.believes_exit_code();
  const bool is_behind_another = unseen && !os::is_child_of_ctest(); // CTest sees how that one ends
  if ((unseen || !not_run.empty()) && !(is_behind_another && report_target.checks_output_only)) {
    os::set_output_of_process(os::Output::of_entry); // the entry fails
  }
  if (!not_run.empty() && !std::exchange(not_run_is_said, true)) {
    session::tell("failed: " + not_run);
  }
  if (unseen) {
    session::tell(policy::message_for_forced_failure(name.empty() ? "the entry" : name, report_target.will_fail));
    std::fflush(stdout);
    if (is_behind_another && report_target.will_fail) {
      end_now(EXIT_SUCCESS); // the failure that CTest does not expect
    }
    std::raise(SIGKILL);
  }
}

void TestRun::State::check_exit(int status) {
  if (status != 0 && !is_skip(status)) {
    if (running && !any_began) { // such as GoogleTest's exit(1) for GTEST_TOTAL_SHARDS alone
      fail_by_gputest("exit(" + std::to_string(status) + ") was called before the first test");
    } else if (running && page) {
      page->end(End::failed);
    }
    return;
  }
  if (running) {
    const auto call = "exit(" + std::to_string(status) + ")";
    fail_at_exit(test.empty() ? call + " was called between the tests" : test + " called " + call,
                 "What comes after it did not run. Let a test return, or skip it with its framework's own macro");
  }
  const auto ended = "the process ended with " + std::to_string(status);
  if (has_failed) {
    session::tell("failed: tests have failed, but " + ended + ". End main() with `return " + result +
                  ";`, or with the failure of any of its calls");
    end_now(EXIT_FAILURE);
  }
  if (is_skip(status) && last_end != End::all_skipped && in_entry) {
    fail_at_exit(ended + ", with which CTest reports a skip, but gputest has skipped nothing",
                 "End main() with `return " + result + ";`");
  }
}

void TestRun::State::end_as_failure(const std::string& why) {
  session::tell(why);
  fail_by_gputest(why);
  end_if_unseen();
  end_now(EXIT_FAILURE);
}

void TestRun::State::fail_at_exit(const std::string& why, const std::string& remedy) {
  session::tell("failed: " + why + ". " + remedy);
  fail_by_gputest(why);
  end_if_unseen();
  end_now(EXIT_FAILURE);
}

} // namespace gputest::detail
