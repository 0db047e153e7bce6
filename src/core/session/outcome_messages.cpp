// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/outcome_messages.hpp"

#include "core/os/ctest_process.hpp"
#include "core/os/kernel_clock.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/run_mode.hpp"
#include "core/policy/text.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"

#include <chrono>

namespace gputest::session {

using Kind = ledger::Result::Kind;

policy::RunModeFinding observed_run_mode(RunModeSetting setting) {
  switch (setting) {
  case RunModeSetting::serial:
    return {policy::RunMode::serial, "GPUTEST_RUN_MODE=serial"};
  case RunModeSetting::parallel:
    return {policy::RunMode::parallel, "GPUTEST_RUN_MODE=parallel"};
  case RunModeSetting::automatic:
    break;
  }
  return policy::find_run_mode(os::look_for_ctest());
}

std::string OutcomeMessages::full_name(const std::string& test) const {
  const std::string entry = entry_.name.empty() ? program_ : entry_.name;
  return policy::printable(test.empty() || test == entry ? entry : entry + ": " + test);
}

std::string OutcomeMessages::command_for(const std::string& test) const {
  const bool known_to_ctest = !entry_.name.empty();
  policy::OneTest one;
  one.ctest_name = entry_.name;
  one.ctest_options = known_to_ctest ? os::options_of_ctest() : std::vector<std::string>{};
  one.command = os::command_line_of(os::own_pid());
  one.filter = test.empty() || filter_option_.empty() ? "" : filter_option_ + test;
  return policy::command_for_large(one);
}

Outcome OutcomeMessages::skip(const std::string& reason, SkipCause cause) const {
  const auto forbidden = settings_.forbid_skip;
  const char* demand = nullptr;
  if (forbidden == ForbidSkip::all) {
    demand = "GPUTEST_FORBID_SKIP=1";
  } else if (forbidden == ForbidSkip::machine && cause != SkipCause::run) {
    demand = "GPUTEST_FORBID_SKIP=machine";
  } else if (settings_.require_gpu && cause == SkipCause::no_gpu) {
    demand = "GPUTEST_REQUIRE_GPU=1";
  }
  if (demand != nullptr) {
    return {Outcome::Kind::fail, reason + " (" + demand + " makes this skip a failure)"};
  }
  return {Outcome::Kind::skip, reason, false, cause};
}

Outcome OutcomeMessages::never_fits(const std::string& who, const policy::Refusal& refusal) const {
  return skip(session::never_fits(who, refusal) + (settings_.device_memory ? " (GPUTEST_DEVICE_MEMORY limits it)" : ""),
              SkipCause::machine);
}

policy::LargeDecision OutcomeMessages::decide_large(const Request& request) {
  const auto is_large = [](const Request& asked) {
    return asked.memory_class == MemoryClass::large && !asked.is_estimated();
  };
  if (!is_large(request) && !is_large(entry_.request)) {
    return policy::LargeDecision::wait;
  }
  if (!run_mode_) {
    run_mode_ = observed_run_mode(settings_.run_mode);
  }
  return policy::decide_large(entry_.large, run_mode_->mode);
}

bool OutcomeMessages::may_wait(const Request& request) {
  return request.memory_class != MemoryClass::large || decide_large(request) == policy::LargeDecision::wait;
}

Outcome OutcomeMessages::excluded(const std::string& test) const {
  return skip(excluded_in_parallel(full_name(test), run_mode_->because, command_for(test)), SkipCause::run);
}

ledger::Patience OutcomeMessages::patience(const std::string& test, const std::string& what, bool* printed) const {
  ledger::Patience patience;
  patience.may_wait = !rank_;
  patience.until = os::KernelClock::now() + entry_.wait_limit;
  const auto prints_at = os::KernelClock::now() + patience.notice_after;
  if (on_wait_) {
    patience.notice_after = patience.notice_every = std::chrono::milliseconds{100};
  } else if (os::status_page_of_process()) { // which is read at any time
    patience.notice_every = patience.notice_after;
  }
  patience.on_wait = [this, who = full_name(test), test, what, printed, prints_at](const ledger::Blocked& blocked) {
    const auto text = who + " waits for " + what;
    const auto named = text + ": " + describe(blocked);
    const bool shows_names = os::output_of_process() == os::Output::free;
    if (const auto page = os::status_page_of_process()) {
      page->set_waits_for(named);
    }
    if (on_wait_) {
      on_wait_(shows_names ? named : text);
    }
    if (!*printed && (!on_wait_ || os::KernelClock::now() >= prints_at)) {
      *printed = true;
      note(shows_names ? named : text + ". 'gputest status' shows which processes hold memory and which wait");
      runlog::write("wait", runlog::wait_details(what, blocked), test);
    }
  };
  return patience;
}

Outcome OutcomeMessages::outcome_of(const ledger::Result& result, const std::string& what,
                                    const std::string& test) const {
  const std::string who = full_name(test);
  switch (result.kind) {
  case Kind::granted:
    break;
  case Kind::refused:
    return never_fits(who, result.refusal);
  case Kind::would_wait:
    return rank_ ? Outcome{Outcome::Kind::fail, rank_would_wait(who, what, *rank_, result.blocked), true}
                 : skip(excluded_by_others(who, result.blocked, command_for(test)), SkipCause::run);
  case Kind::timed_out:
    return {Outcome::Kind::fail, waited_too_long(who, what, entry_.wait_limit, result.blocked), true};
  case Kind::stuck:
    return {Outcome::Kind::fail, no_room_beside_overheads(who, what, result.blocked, ""), true};
  case Kind::unannounced:
    return {Outcome::Kind::fail, not_announced(who, what, result.blocked, false)};
  }
  return {};
}

} // namespace gputest::session
