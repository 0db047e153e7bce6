// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/test_run.hpp>

#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/os/process_end.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/verdict.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/outcome.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace gputest {

namespace detail {

using os::TestStatusPage;

struct TestRun::State {
  bool in_entry = false;
  std::atomic<bool> is_refused{false};
  std::string not_run;
  bool not_run_is_said = false;
  policy::ReportTarget report_target;
  bool no_gpu = false;
  std::shared_ptr<TestStatusPage> page; ///< null: nobody watches
  std::string name;
  std::mutex mutex; ///< of what follows: any thread may exit
  bool running = false;
  std::optional<End> last_end;
  bool has_failed = false;                   ///< any run of this process
  std::atomic<bool> check_has_failed{false}; ///< of this process's case
  pid_t pid = 0;                             ///< that has begun, since a forked process has a copy of all this
  std::string test;
  std::string result; ///< what main() has to return
  bool watches_exit = false;
  bool any_began = false;    ///< of the tests
  std::optional<Bytes> peak; ///< the most that a test has allocated of a device; nullopt: no test had a lease
  bool knows_peak = true;    ///< whether it is known of all tests
  Bytes leased;              ///< the most of a device
  std::string devices;       ///< of the last lease

  void read_entry() {
    report_target = policy::parse_report_target(os::read_variable("GPUTEST_ENTRY").value_or(""));
    in_entry = report_target.any();
    name = settings::parse_entry_name(os::read_variable);
    page = TestStatusPage::open(report_target.page);
    os::set_output_of_process(os::output_of(report_target, page.get()));
    os::set_status_page_of_process(page);
    if (in_entry) {
      os::remove_variable("GPUTEST_ENTRY");
    }
    try {
      no_gpu = settings::parse_entry(os::read_variable).no_gpu;
    } catch (const InvalidSetting&) { // each test that asks for a lease says it
      no_gpu = false;
    }
  }

  void refuse(const std::string& why) {
    if (page && (pid == 0 || pid == os::own_pid())) { // a forked process goes on by itself
      page->refuse(why);
    }
    is_refused = true;
  }

  static void log_end(int status) {
    runlog::write("end", runlog::JsonObject{}.number("exit", static_cast<unsigned>(status)));
  }

  [[noreturn]] static void end_now(int status) {
    log_end(status);
    os::end_now(status);
  }

  void at_exit(int status) {
    std::unique_lock lock{mutex, std::try_to_lock}; // not held: exit() was called out of one of these functions
    if (!lock || pid != os::own_pid()) {
      return;
    }
    end_if_unseen();
    check_exit(status);
    end_if_unseen();
    const int code = code_of_end(status);
    if (code == EXIT_FAILURE && status != code) {
      end_now(code);
    }
    log_end(is_skip(code) ? skipped_exit_code : code);
    if (is_skip(code) && code != status && report_target.ctest) { // else the watcher does this
      lock.unlock();
      std::exit(code); // NOLINT(concurrency-mt-unsafe): glibc goes on with the handlers that are left
    }
  }

  [[nodiscard]] int code_of_skip() const {
    return report_target.ctest && no_gpu ? unwatched_skip_code : skipped_exit_code;
  }

  [[nodiscard]] bool is_skip(int status) const { return status == skipped_exit_code || status == code_of_skip(); }

  /// What the process has to end with where its program says `status`.
  [[nodiscard]] int code_of_end(int status) const {
    if (status != EXIT_SUCCESS && !is_skip(status)) {
      return status;
    }
    if (has_failed || (report_target.ctest && !not_run.empty())) {
      return EXIT_FAILURE;
    }
    return is_skip(status) || (in_entry && last_end == End::all_skipped) ? code_of_skip() : status;
  }

  /// What a watcher does, in an entry that has none (MEMORY none): says which test has not run, and ends the process by
  /// a signal if CTest would not see its failure in an exit code.
  void end_if_unseen() {
    if (!report_target.ctest || (not_run.empty() && !is_refused)) {
      return;
    }
    const bool unseen = !report_target.believes_exit_code();
    if (unseen || !not_run.empty()) {
      os::set_output_of_process(os::Output::of_entry); // the entry fails
    }
    if (!not_run.empty() && !std::exchange(not_run_is_said, true)) {
      session::tell("failed: " + not_run);
    }
    if (unseen) {
      session::tell(policy::message_for_forced_failure(name.empty() ? "the entry" : name, report_target.will_fail));
      std::fflush(stdout);
      std::raise(SIGKILL);
    }
  }

  void check_exit(int status) {
    if (status != 0 && !is_skip(status)) {
      if (running && !any_began) { // such as GoogleTest's exit(1) for GTEST_TOTAL_SHARDS alone
        refuse("exit(" + std::to_string(status) + ") was called before the first test");
      } else if (running && page) {
        page->end(TestStatusPage::End::failed);
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

  [[nodiscard]] static std::string attempt() { return os::read_variable("GPUTEST_ATTEMPT").value_or("1"); }
  [[nodiscard]] static bool is_last_attempt() {
    const int attempts = policy::parse_attempts(os::read_variable("GPUTEST_ATTEMPTS").value_or(""));
    return attempts == 1 || attempt() == std::to_string(attempts);
  }

  [[nodiscard]] bool anything_has_failed() const { return has_failed || is_refused || check_has_failed; }

  [[noreturn]] void end_to_run_again(const policy::Stopped& stopped, const std::string& why) const {
    auto details = runlog::JsonObject{}.text("text", why).text("attempt", attempt());
    if (stopped.needed > Bytes{}) {
      details.number("needed_bytes", stopped.needed.count());
    }
    if (stopped.leased > Bytes{}) {
      details.number("leased_bytes", stopped.leased.count());
    }
    runlog::write(is_last_attempt() ? "overuse" : "again", details, test);
    page->set_stopped(stopped);
    end_now(EXIT_FAILURE);
  }

  [[noreturn]] void fail_at_exit(const std::string& why, const std::string& remedy) {
    session::tell("failed: " + why + ". " + remedy);
    refuse(why);
    end_if_unseen();
    end_now(EXIT_FAILURE);
  }
};

TestRun::TestRun() : state_{std::make_shared<State>()} { state_->read_entry(); }

TestRun& TestRun::of_process() {
  static auto& run = *new TestRun; // NOLINT(cppcoreguidelines-owning-memory): used at exit, so never destroyed
  return run;
}

bool TestRun::in_entry() const { return state_->in_entry; }

bool TestRun::no_gpu() const { return state_->no_gpu; }

void TestRun::say(const std::string& text) noexcept { // NOLINT(readability-convert-member-functions-to-static)
  try {
    session::tell(text);
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): no memory
  }
}

void TestRun::begin_next_case() noexcept try {
  const std::lock_guard guard{state_->mutex};
  state_->running = false;
  state_->last_end.reset();
  state_->has_failed = false;
  state_->check_has_failed = false;
  state_->test.clear();
  state_->any_began = false;
  state_->is_refused = false;
  state_->not_run.clear();
  state_->peak.reset();
  state_->knows_peak = true;
  state_->leased = {};
  state_->read_entry();
  runlog::configure(settings::of_process().log, state_->name);
} catch (const std::exception& error) {
  session::tell(error.what());
}

bool TestRun::begin(const std::string& result, Notation notation) noexcept try {
  const std::lock_guard guard{state_->mutex};
  if (state_->running && state_->pid == os::own_pid()) {
    return false;
  }
  session::write_advice_in(notation);
  state_->result = result;
  state_->running = true;
  state_->last_end.reset();
  const auto pid = os::own_pid();
  state_->has_failed = state_->has_failed && state_->pid == pid;
  state_->pid = pid;
  state_->test.clear();
  state_->any_began = false;
  if (!std::exchange(state_->watches_exit, true)) {
    os::call_at_exit([](int status) { of_process().state_->at_exit(status); });
  }
  if (state_->page) {
    state_->page->begin();
  }
  return true;
} catch (const std::exception& error) {
  session::tell(error.what());
  return true;
}

void TestRun::running(const std::string& test) noexcept try {
  runlog::set_running(test);
  const std::lock_guard guard{state_->mutex};
  state_->test = test;
  state_->any_began = state_->any_began || !test.empty();
  if (state_->page) {
    state_->page->set_running(test);
  }
} catch (const std::exception& error) {
  session::tell(error.what());
}

void TestRun::note_lease(Bytes leased, const std::string& devices) noexcept try {
  const std::lock_guard guard{state_->mutex};
  state_->leased = std::max(state_->leased, leased);
  state_->devices = devices.empty() ? state_->devices : devices;
} catch (const std::exception& error) {
  session::tell(error.what());
}

void TestRun::note_peak(std::optional<Bytes> peak) noexcept try {
  const std::lock_guard guard{state_->mutex};
  state_->knows_peak = state_->knows_peak && peak;
  state_->peak = std::max(state_->peak.value_or(Bytes{}), peak.value_or(Bytes{}));
} catch (const std::exception& error) {
  session::tell(error.what());
}

void TestRun::ended(const TestEnd& test) noexcept try {
  runlog::JsonObject details;
  details.text("suite", test.suite)
      .text("name", test.name)
      .text("result", test.result)
      .seconds("seconds", test.seconds);
  if (!test.reason.empty()) {
    details.text("reason", test.reason);
  }
  if (!test.file.empty()) {
    details.text("file", test.file).number("line", static_cast<unsigned>(test.line));
  }
  runlog::write("test", details, test.suite.empty() ? test.name : test.suite + "." + test.name);
} catch (const std::exception& error) {
  session::tell(error.what());
}

void TestRun::refused(const std::string& why) noexcept { state_->refuse(why); }

std::string TestRun::skipped(const std::string& why) noexcept try {
  if (os::output_of_process() != os::Output::judged) {
    return why;
  }
  if (state_->page) {
    state_->page->skip(why);
  }
  return {};
} catch (const std::exception&) { // no memory
  return {};
}

void TestRun::not_run(const std::string& why) noexcept {
  if (state_->page && state_->pid == os::own_pid()) {
    state_->page->set_not_run(why);
  }
  state_->not_run = why;
  state_->not_run_is_said = false;
}

void TestRun::stop(const std::string& why) noexcept try {
  const std::lock_guard guard{state_->mutex};
  if (state_->running) {
    session::tell(why);
    state_->refuse(why);
    state_->end_if_unseen();
    State::end_now(EXIT_FAILURE);
  }
} catch (const std::exception& error) {
  session::tell(error.what());
}

bool TestRun::is_watched() const noexcept { return state_->page != nullptr; }

void TestRun::check_failed() noexcept { state_->check_has_failed = true; }

void TestRun::run_again(Bytes needed, Bytes leased) noexcept try {
  const std::lock_guard guard{state_->mutex};
  if (!state_->page) {
    return;
  }
  const auto who = state_->test.empty() ? state_->name : state_->test;
  const policy::Stopped stopped{policy::StopCause::small_lease, leased, needed};
  const auto why = policy::text_of_stop(who, stopped) + ". ";
  if (!state_->anything_has_failed()) {
    state_->end_to_run_again(stopped, why + "It was stopped before it took them, and its entry runs " +
                                          (State::is_last_attempt() ? "no more" : "again"));
  }
  const auto failed = why + "It ends here, and does not run again, because something has failed in this process";
  runlog::write("overuse", runlog::JsonObject{}.text("text", failed), state_->test);
  session::tell(failed);
  if (state_->page->output_is_judged()) {
    state_->page->refuse(failed); // it has not written all that CTest judges
  }
  state_->page->end(TestStatusPage::End::failed); // its own failure
  State::end_now(EXIT_FAILURE);
} catch (const std::exception& error) {
  session::tell(error.what());
}

void TestRun::run_again_alone(const policy::Stopped& stopped) noexcept try {
  const std::lock_guard guard{state_->mutex};
  const auto& page = state_->page;
  const bool is_shown = page && page->output_is_judged() && !policy::is_withheld(os::read_variable("GPUTEST_MEMORY"));
  if (page && !page->is_measured() && !is_shown && !State::is_last_attempt() && !state_->anything_has_failed() &&
      state_->pid == os::own_pid()) {
    const auto who = state_->test.empty() ? state_->name : state_->test;
    state_->end_to_run_again(stopped, policy::text_of_stop(who, stopped) + ". Its entry runs again");
  }
} catch (const std::exception& error) {
  session::tell(error.what());
}

void TestRun::end(End how) noexcept try {
  const std::lock_guard guard{state_->mutex};
  if (!state_->running || state_->pid != os::own_pid()) {
    return; // a forked process that goes on by itself
  }
  state_->running = false;
  state_->last_end = how;
  state_->has_failed = state_->has_failed || how == End::failed;
  if (how == End::nothing_ran) {
    state_->refuse("no test ran");
  }
  const bool ran = how == End::passed || how == End::failed;
  if (ran && state_->in_entry && !(state_->page && state_->page->is_measured())) {
    session::tell_measurements({state_->knows_peak ? state_->peak : std::nullopt, state_->leased, state_->devices});
  }
  if (state_->page) {
    state_->page->end(how == End::passed        ? TestStatusPage::End::passed
                      : how == End::failed      ? TestStatusPage::End::failed
                      : how == End::all_skipped ? TestStatusPage::End::skipped
                                                : TestStatusPage::End::nothing_ran);
  }
} catch (const std::exception& error) {
  session::tell(error.what());
}

int TestRun::exit_code(int status) noexcept try {
  const std::lock_guard guard{state_->mutex};
  if (state_->running || state_->pid != os::own_pid()) {
    return status;
  }
  if (status == EXIT_SUCCESS || status == skipped_exit_code) {
    state_->end_if_unseen();
  } else { // also of what has failed after end(), such as in a listener
    state_->has_failed = true;
    if (state_->page) {
      state_->page->fail();
    }
  }
  if (status == skipped_exit_code && !state_->in_entry) { // such as an add_test() of the project's own, or a script
    session::tell("all tests were skipped, so the exit code is 77. CTest shows that as Failed unless the test has the "
                  "property SKIP_RETURN_CODE 77, which gpu_add_test() sets");
  }
  return state_->code_of_end(status);
} catch (const std::exception& error) {
  session::tell(error.what());
  return EXIT_FAILURE;
}

} // namespace detail

int report_end(int exit_code) noexcept {
  auto& run = detail::TestRun::of_process();
  using End = detail::TestRun::End;
  if (!run.begin("gputest::report_end(exit_code)")) {
    return exit_code; // a test of a framework calls it, whose adapter reports the end
  }
  run.end(exit_code == skipped_exit_code ? End::all_skipped : exit_code == 0 ? End::passed : End::failed);
  return run.exit_code(exit_code);
}

} // namespace gputest
