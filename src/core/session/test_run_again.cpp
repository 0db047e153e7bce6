// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/test_run_state.hpp"

#include "core/os/environment.hpp"
#include "core/os/process_end.hpp"
#include "core/runlog/run_log.hpp"

#include <cstdlib>

namespace gputest::detail {

namespace {

std::string own_attempt() { return os::read_variable("GPUTEST_ATTEMPT").value_or("1"); }

bool is_last_attempt() {
  const int attempts = policy::parse_attempts(os::variable("GPUTEST_ATTEMPTS"));
  return attempts == 1 || own_attempt() == std::to_string(attempts);
}

} // namespace

std::string TestRun::State::end_to_run_again(const policy::Stopped& stopped, const std::string& what_follows) const {
  const auto why = policy::text_of_stop(test.empty() ? name : test, stopped) + ". ";
  if (is_failed_by_gputest) {
    return why;
  }
  auto details = runlog::JsonObject{}.text("text", why + what_follows).text("attempt", own_attempt());
  if (stopped.needed > Bytes{}) {
    details.number("needed_bytes", stopped.needed.count());
  }
  if (stopped.leased > Bytes{}) {
    details.number("leased_bytes", stopped.leased.count());
  }
  runlog::write(is_last_attempt() ? "overuse" : "again", details, test);
  log_end(EXIT_FAILURE);
  os::write_what_was_printed();
  page->set_stopped(stopped);
  os::end_now(EXIT_FAILURE);
}

void TestRun::run_again(const policy::Stopped& stopped) noexcept {
  const std::lock_guard guard{state_->mutex};
  if (!state_->page) {
    return;
  }
  const auto failed =
      state_->end_to_run_again(stopped, std::string{"It was stopped before it took them, and its entry runs "} +
                                            (is_last_attempt() ? "no more" : "again")) +
      "It ends here, and does not run again, because gputest has failed a test in this process";
  runlog::write("overuse", runlog::JsonObject{}.text("text", failed), state_->test);
  session::tell(failed);
  state_->page->end(TestRun::End::failed);
  State::end_now(EXIT_FAILURE);
}

void TestRun::run_again_alone(const policy::Stopped& stopped) noexcept {
  const std::lock_guard guard{state_->mutex};
  const auto& page = state_->page;
  const bool is_shown = page && page->output_is_judged() && !policy::is_withheld(os::read_variable("GPUTEST_MEMORY"));
  if (page && !page->is_measured() && !is_shown && !is_last_attempt() && !state_->is_forked() &&
      !state_->any_failed()) {
    static_cast<void>(state_->end_to_run_again(stopped, "Its entry runs again"));
  }
}

} // namespace gputest::detail
