// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/test_run.hpp>

#include "core/os/environment.hpp"
#include "core/os/process_end.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/test_run_state.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/outcome.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

namespace gputest {

namespace detail {

using os::TestStatusPage;

void TestRun::State::read_entry() {
  settings::forget_entry_above_ctest();
  report_target = policy::parse_report_target(os::variable("GPUTEST_ENTRY"));
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

void TestRun::State::fail_by_gputest(const std::string& why) {
  if (page && !is_forked()) {
    page->fail_by_gputest(why);
  }
  is_failed_by_gputest = true;
}

TestRun::TestRun() : state_{std::make_shared<State>()} { state_->read_entry(); }

TestRun& TestRun::of_process() {
  static auto& run = *new TestRun; // NOLINT(cppcoreguidelines-owning-memory): used at exit, so never destroyed
  return run;
}

bool TestRun::in_entry() const {
  const std::lock_guard guard{state_->mutex};
  return state_->in_entry;
}

int TestRun::code_of_main(int code) const {
  const std::lock_guard guard{state_->mutex};
  return state_->code_of_main(code);
}

bool TestRun::no_gpu() const {
  const std::lock_guard guard{state_->mutex};
  return state_->no_gpu;
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static)
void TestRun::say(const std::string& text) noexcept { session::tell(text); }

void TestRun::begin_next_case() noexcept try {
  const std::lock_guard guard{state_->mutex};
  state_->running = false;
  state_->last_end.reset();
  state_->has_failed = false;
  state_->check_has_failed = false;
  state_->is_failed_by_gputest = false;
  state_->not_run.clear();
  state_->measured = {};
  state_->knows_peak = true;
  state_->read_entry();
  runlog::configure(settings::of_process().log, state_->name);
} catch (const std::exception& error) {
  session::tell(error.what());
}

bool TestRun::begin(const std::string& result, Notation notation) noexcept {
  const std::lock_guard guard{state_->mutex};
  if (state_->running && state_->is_own()) {
    return false;
  }
  if (state_->page && state_->page->is_stopped()) { // its launcher goes on after the attempt has ended
    State::end_now(EXIT_FAILURE);
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
  if (state_->report_target.expects_valgrind && !os::has_valgrind()) { // CTest would take no defects for a success
    state_->end_as_failure("failed: valgrind checks gputest-entry only, not the tests that it starts. Set "
                           "VALGRIND_OPTS=--trace-children=yes");
  }
  return true;
}

void TestRun::running(const std::string& test) noexcept {
  runlog::set_running(test);
  const std::lock_guard guard{state_->mutex};
  state_->test = test;
  state_->any_began = state_->any_began || !test.empty();
  if (state_->page) {
    state_->page->set_running(test);
  }
}

void TestRun::note_lease(Bytes leased, const std::string& devices) noexcept {
  const std::lock_guard guard{state_->mutex};
  auto& measured = state_->measured;
  measured.leased = std::max(measured.leased, leased);
  measured.devices = devices.empty() ? measured.devices : devices;
}

void TestRun::note_peak(std::optional<Bytes> peak) noexcept {
  const std::lock_guard guard{state_->mutex};
  auto& most = state_->measured.peak;
  state_->knows_peak = state_->knows_peak && peak;
  most = std::max(most.value_or(Bytes{}), peak.value_or(Bytes{}));
}

void TestRun::ended(const TestEnd& test) noexcept {
  runlog::JsonObject details;
  details.text("suite", test.suite)
      .text("name", test.name)
      .text("result", test.result)
      .seconds("seconds", test.seconds);
  if (!test.reason.empty()) {
    details.text("reason", test.reason);
  }
  if (std::string_view{test.result} == "failed") {
    check_failed();
  }
  if (!test.file.empty()) {
    details.text("file", test.file).number("line", static_cast<unsigned>(test.line));
  }
  runlog::write("test", details, test.suite.empty() ? test.name : test.suite + "." + test.name);
}

void TestRun::failed_by_gputest(const std::string& why) noexcept {
  const std::lock_guard guard{state_->mutex};
  state_->fail_by_gputest(why);
}

std::string TestRun::skipped(const std::string& why) noexcept {
  if (os::output_of_process() != os::Output::judged) {
    return why;
  }
  const std::lock_guard guard{state_->mutex};
  if (state_->page) {
    state_->page->skip(why);
  }
  return {};
}

void TestRun::not_run(const std::string& why) noexcept {
  const std::lock_guard guard{state_->mutex};
  if (state_->page && why != state_->not_run && state_->is_own()) {
    state_->page->set_not_run(why);
  }
  state_->not_run = why;
  state_->not_run_is_said = false;
}

bool TestRun::is_running() const noexcept {
  const std::lock_guard guard{state_->mutex};
  return state_->running;
}

void TestRun::end_as_failure(const std::string& why) noexcept {
  const std::lock_guard guard{state_->mutex};
  if (state_->running) {
    state_->end_as_failure(why);
  }
}

bool TestRun::is_watched() const noexcept {
  const std::lock_guard guard{state_->mutex};
  return state_->page != nullptr;
}

bool TestRun::has_failed_before() const noexcept {
  const std::lock_guard guard{state_->mutex};
  return state_->page && state_->page->has_failed_before() && !state_->page->output_is_judged();
}

void TestRun::check_failed() noexcept {
  state_->check_has_failed = true;
  if (state_->is_forked()) { // in which the lock may be held for ever
    return;
  }
  const std::lock_guard guard{state_->mutex};
  if (state_->page) {
    state_->page->set_check_has_failed();
  }
}

void TestRun::end(End how) noexcept {
  const std::lock_guard guard{state_->mutex};
  if (!state_->running || !state_->is_own()) {
    return; // a forked process that goes on by itself
  }
  state_->running = false;
  state_->last_end = how;
  state_->has_failed = state_->has_failed || how == End::failed;
  if (how == End::nothing_ran) {
    state_->fail_by_gputest("no test ran");
  }
  const bool ran = how == End::passed || how == End::failed;
  if (ran && state_->in_entry && !(state_->page && state_->page->is_measured())) {
    auto measured = state_->measured;
    measured.peak = state_->knows_peak ? measured.peak : std::nullopt;
    session::tell_measurements(measured);
  }
  if (state_->page) {
    state_->page->end(how);
  }
}

int TestRun::exit_code(int status) noexcept {
  const std::lock_guard guard{state_->mutex};
  if (state_->running || !state_->is_own()) {
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
    session::tell("all tests were skipped, so the exit code is 77. CTest shows that as Failed, and with WILL_FAIL "
                  "as Passed, unless the test has the property SKIP_RETURN_CODE 77, which gpu_add_test() sets");
  }
  return state_->code_of_end(status);
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
