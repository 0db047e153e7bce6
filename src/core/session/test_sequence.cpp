// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/test_sequence.hpp>

#include "core/session/gate.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>

#include <exception>
#include <string_view>
#include <utility>

namespace gputest::detail {

void TestSequence::open(bool any, const std::string& why_none, const std::function<Plan(const Request&)>& plan) {
  unusable_ = why_none;
  try {
    session_.emplace(settings_from_environment(), entry_from_environment());
    never_enters_ = !any;
    if (any) { // every lease says again what came of it
      static_cast<void>(session_->enter(plan(entry_request())));
    }
  } catch (const Error& error) {
    session_.reset();
    if (any) { // else settings do not matter, which are for GPUs
      unusable_ = error.what();
    }
  }
}

bool TestSequence::next_entry() {
  skips_ = 0;
  has_failed_one_ = false;
  of_suite_.reset();
  if (std::exchange(never_enters_, false)) {
    session_.reset();
  }
  if (session_) {
    session_->set_entry(entry_from_environment());
  }
  return session_.has_value();
}

Lease TestSequence::lease(const std::string& test, const Request& request) {
  if (!session_) {
    TestRun::of_process().failed_by_gputest(unusable_);
    throw Error{unusable_};
  }
  auto lease = session_->lease(request, test);
  if (lease.outcome_.kind == Outcome::Kind::skip) {
    const std::lock_guard guard{mutex_};
    outcome_ = lease.outcome_;
    lease.outcome_.reason = TestRun::of_process().skipped(outcome_.reason);
  }
  return lease;
}

Outcome TestSequence::begin(const std::string& test, const TestNeeds& needs, const std::string& before) {
  TestRun::of_process().running(test);
  if (!before.empty()) {
    count_unleased(before);
  }
  return ask(test, needs);
}

Outcome TestSequence::ask(const std::string& test, const TestNeeds& needs) {
  outcome_ = answer(test, needs);
  if (outcome_.kind == Outcome::Kind::fail) {
    has_failed_one_ = true;
    TestRun::of_process().failed_by_gputest(outcome_.reason);
  }
  return outcome_;
}

Outcome TestSequence::answer(const std::string& test, const TestNeeds& needs) try {
  using Use = TestNeeds::Use;
  if (!needs.mistake.empty()) {
    return {Outcome::Kind::fail, needs.mistake};
  }
  if (needs.use == Use::shared && of_suite_ && of_suite_->kind != Outcome::Kind::granted) {
    return *of_suite_;
  }
  if (!session_) {
    return needs.use == Use::none ? Outcome{} : Outcome{Outcome::Kind::fail, unusable_};
  }
  if (needs.use == Use::shared) {
    return session_->check(needs.request, test);
  }
  if (needs.use == Use::lease && lease_ && leased_ == needs.request) {
    return {};
  }
  lease_.release();
  if (needs.use == Use::lease) {
    lease_ = session_->lease(needs.request, test);
    leased_ = needs.request;
    return lease_.outcome();
  }
  session_->watch_unleased(test);
  return needs.use == Use::own ? session_->check(needs.request, test) : Outcome{};
} catch (const Error& error) {
  return {Outcome::Kind::fail, error.what()};
}

bool TestSequence::can_run(const std::string& test, const TestNeeds& needs) noexcept try {
  using Use = TestNeeds::Use;
  if (needs.use == Use::none || !session_) {
    return needs.use == Use::none;
  }
  if (needs.use != Use::own) {
    return session_->foresee(needs.request, test).kind == Outcome::Kind::granted;
  }
  const auto gate = session::gate_of_process(); // another one's in a forked process that has made its own
  return gate && gate->would_check(needs.request, test);
} catch (const std::exception&) { // begin() says it
  return false;
}

Outcome TestSequence::begin_suite(const std::string& suite, const TestNeeds& needs) {
  return of_suite_.emplace(answer(suite, needs));
}

void TestSequence::count_unleased(const std::string& where) noexcept {
  try {
    if (session_) {
      session_->count_unleased(where);
    }
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): the next lease says what is wrong
  }
}

Findings TestSequence::end(const std::string& test) {
  if (session_ && !of_suite_) {
    session_->release(); // one that the test has taken itself, too
  }
  auto findings = examine(test);
  TestRun::of_process().running("");
  return findings;
}

Findings TestSequence::end_suite(const std::string& suite) {
  of_suite_.reset();
  if (session_) {
    session_->release();
  }
  return examine(suite);
}

void TestSequence::ended(TestRun::TestEnd test) {
  const std::lock_guard guard{mutex_};
  const auto outcome = std::exchange(outcome_, {});
  if (outcome.kind == Outcome::Kind::skip && std::string_view{test.result} == "skipped") {
    ++skips_;
    test.reason = outcome.reason;
  }
  TestRun::of_process().ended(test);
}

TestRun::End TestSequence::finish(std::uint64_t selected, std::uint64_t passed, bool failed) const {
  using End = TestRun::End;
  if (failed) {
    return End::failed;
  }
  const bool is_skip = passed == 0 || (skips_ > 0 && TestRun::of_process().in_entry());
  return selected == 0 ? End::nothing_ran : is_skip ? End::all_skipped : End::passed;
}

} // namespace gputest::detail
