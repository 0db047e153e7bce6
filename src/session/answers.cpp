#include "session/answers.hpp"

#include "policy/large_policy.hpp"
#include "session/messages.hpp"
#include "session/reasons.hpp"

namespace gputest::session {

using Kind = ledger::Result::Kind;

std::string Answers::full_name(const std::string& test) const {
  const std::string entry = entry_.name.empty() ? program_ : entry_.name;
  return test.empty() || test == entry ? entry : entry + ": " + test;
}

std::string Answers::command_for(const std::string& test) const {
  return policy::command_for_large(entry_.name, program_, test);
}

Outcome Answers::skip(const std::string& reason, bool for_want_of_gpu) const {
  if (settings_.forbid_skip || (for_want_of_gpu && settings_.require_gpu)) {
    const std::string demand = settings_.forbid_skip ? "GPUTEST_FORBID_SKIP=1" : "GPUTEST_REQUIRE_GPU=1";
    return {Outcome::Kind::fail, reason + " (" + demand + " makes this skip a failure)"};
  }
  return {Outcome::Kind::skip, reason};
}

Outcome Answers::never_fits(const std::string& who, const policy::Refusal& refusal) const {
  return skip(session::never_fits(who, refusal) +
              (settings_.device_memory ? " (GPUTEST_DEVICE_MEMORY limits it)" : ""));
}

ledger::Patience Answers::patience(const std::string& who, const std::string& what, bool* told) const {
  ledger::Patience patience;
  patience.may_wait = !rank_;
  patience.until = std::chrono::steady_clock::now() + entry_.wait_limit;
  patience.on_wait = [who, what, told](const ledger::Blocked& blocked) {
    *told = true;
    tell(who + " waits for " + what + ": " + describe(blocked));
  };
  return patience;
}

Outcome Answers::outcome_of(const ledger::Result& result, const std::string& what, const std::string& test) const {
  const std::string who = full_name(test);
  switch (result.kind) {
  case Kind::granted:
    break;
  case Kind::refused:
    return never_fits(who, result.refusal);
  case Kind::would_wait:
    return rank_ ? Outcome{Outcome::Kind::fail, rank_would_wait(who, what, *rank_, result.blocked), true}
                 : skip(excluded_by_others(who, result.blocked, command_for(test)));
  case Kind::timed_out:
    return {Outcome::Kind::fail, waited_too_long(who, what, entry_.wait_limit, result.blocked), true};
  case Kind::stuck:
    return {Outcome::Kind::fail, no_room_beside_overheads(who, what, result.blocked, ""), true};
  case Kind::unannounced:
    return {Outcome::Kind::fail, not_announced(who, what, result.blocked)};
  }
  return {};
}

} // namespace gputest::session
