// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/own_slot.hpp"

#include "core/ledger/records.hpp"
#include "core/ledger/storage/slot_store.hpp"
#include "core/os/kernel_clock.hpp"
#include "core/os/process.hpp"
#include "core/os/test_status_page.hpp"
#include "core/policy/queues.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

namespace gputest::ledger {

using os::KernelClock;
using policy::DeviceMask;
using policy::Stage;

namespace {

/// The memory of a killed process comes back within about 110 ms (H200), and no device reports when, so look again at
/// this interval.
constexpr std::chrono::milliseconds look_for_memory_of_the_dead{3};
/// Nor does a device report when an external process frees memory.
constexpr std::chrono::milliseconds look_for_external_memory{200};

bool has_ended(const Record& record) {
  return os::has_ended(static_cast<pid_t>(record.pid), record.start_time) && record.pids != 0 &&
         record.pids == os::pids_identity();
}

/// Whether a process does not go on by itself: a signal has stopped it, or it has ended, and a child that it has forked
/// has its liveness FIFO.
bool is_stopped(const Record& record) {
  return os::is_stopped(static_cast<pid_t>(record.pid), record.start_time) || has_ended(record);
}

/// Those of `records` whose processes are stopped. Without the mutex.
std::vector<Record> stopped_among(const std::vector<Record>& records) {
  std::vector<Record> stopped;
  std::copy_if(records.begin(), records.end(), std::back_inserter(stopped), is_stopped);
  return stopped;
}

/// Later by `duration`, of which max() is for ever.
KernelClock::time_point later(KernelClock::time_point when, std::chrono::milliseconds duration) {
  return duration == std::chrono::milliseconds::max() ? KernelClock::time_point::max() : when + duration;
}

/// Later by `time`, if it is not for ever.
KernelClock::time_point put_off(KernelClock::time_point when, std::chrono::nanoseconds time) {
  return when == KernelClock::time_point::max() ? when : when + time;
}

/// Whether everybody else claims the same of these devices.
bool same_claims(const std::vector<Record>& before, const std::vector<Record>& now, DeviceMask devices,
                 std::size_t own_slot) {
  const auto claims = [&](const std::vector<Record>& all) {
    std::vector<std::array<std::uint64_t, 6>> figures;
    for (const Record& record : all) {
      const policy::Claim& claim = record.claim;
      if (record.slot != own_slot && (claim.devices & devices) != 0) {
        const bool holds = claim.stage == Stage::holding;
        figures.push_back({record.slot, record.identity, claim.devices, claim.overhead_bytes, holds ? claim.wanted : 0,
                           holds ? claim.lease_bytes : 0});
      }
    }
    return figures;
  };
  return claims(before) == claims(now);
}

/// After everybody's: those that hold a lease came before, too.
std::uint64_t next_ticket(const std::vector<Record>& all, std::size_t own_slot) {
  std::uint64_t last = 0;
  for (const auto& record : all) {
    if (record.slot != own_slot && record.claim.ticket < UINT64_MAX) {
      last = std::max(last, record.claim.ticket);
    }
  }
  return last + 1;
}

void add_all(std::vector<Record>& to, const std::vector<Record>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// What is to be done after an evaluation, and by when.
struct NextStep {
  enum class Step {
    grant,
    refuse,
    observe,         ///< what was seen of the devices is not enough, or is old
    observe_again,   ///< what was given back meanwhile may seem an external process's
    count_own_bytes, ///< memory that this process has without a lease is its own
    probe,           ///< before somebody is named: those in the way may have ended
    give_up,
    wait,
  };
  Step step = Step::wait;
  bool is_old = false; ///< observe: what was seen would do, if it were not so old
  KernelClock::time_point now;
  KernelClock::time_point leave_until; ///< when those that have to leave should have left
  bool they_leave = false;             ///< and they still have time for it
  bool may_not_wait = false;
  bool tells = false; ///< it is time to say who is waited for
};

/// One request that waits. It observes without the mutex, decides under it (next_step(), which changes nothing), and
/// acts.
///
/// Or, with `grows_to` bytes, a held lease that grows. Its record says that it holds, and nobody sees it wait.
class Waiting {
public:
  Waiting(OwnSlot& own_slot, std::unique_lock<os::FileLock>& guard, const Patience& patience, Observations seen,
          std::uint64_t grows_to = 0)
      : own_slot_{own_slot}, records_{own_slot.records()}, guard_{guard}, patience_{patience}, grows_to_{grows_to},
        seen_{std::move(seen)}, watches_{own_slot.store()}, notice_at_{later(went_on_at_, patience.notice_after)},
        look_who_is_stopped_at_{later(went_on_at_, patience.observation_lasts)} {
    if (grows()) {
      held_ = own_slot.record();
      left_at_ = patience.until;
    }
  }

  Result run();

  /// Takes the claim back. What it has said in the ledger is wrong if that throws.
  Result give_up(Result result);

private:
  [[nodiscard]] KernelClock::time_point until() const { return put_off(patience_.until, stood_still_); }
  void see_that_it_goes_on(std::optional<std::chrono::nanoseconds> slept = {});
  [[nodiscard]] bool grows() const { return grows_to_ != 0; }
  [[nodiscard]] const Record& own() const { return grows() ? held_ : own_slot_.record(); }
  [[nodiscard]] DeviceMask asked() const { return grows() ? own().claim.wanted : policy::asked_devices(own().claim); }
  [[nodiscard]] std::optional<Result::Kind> outdated();
  [[nodiscard]] Evaluation evaluate(std::vector<Record> all, bool nobody_gave_back) const;
  [[nodiscard]] NextStep next_step(const Evaluation& evaluation, bool nobody_gave_back) const;
  Result grant(const policy::Grant& grant);
  Result grow();
  void probe(const Evaluation& evaluation);
  Result give_up_for(const Evaluation& evaluation, const NextStep& next);
  void say_in_the_record(const Evaluation& evaluation);
  void wait(const Evaluation& evaluation, const NextStep& next);
  [[nodiscard]] bool sleep_until_something_changes(const Evaluation& evaluation, const NextStep& next,
                                                   const std::vector<Record>& ahead);
  [[nodiscard]] os::Woken sleep(const Evaluation& evaluation, KernelClock::time_point until);
  void observe(const std::vector<Record>& ahead);
  [[nodiscard]] std::vector<Record> ahead_among(const std::vector<Record>& blockers) const;
  [[nodiscard]] Blocked for_people(Blocked blocked) const;
  void mark_ended(Blocked& blocked, bool by_whom) const;

  OwnSlot& own_slot_;
  Records& records_;
  std::unique_lock<os::FileLock>& guard_;
  const Patience& patience_;
  std::uint64_t grows_to_; ///< 0: it is no growth
  Record held_;            ///< with grows_to_: this process's record, when the mutex was had last
  Observations seen_;
  os::LivenessWatches watches_;
  std::vector<Record> ended_;  ///< those in the way that were seen to end, before seen_ was observed
  std::vector<Record> probed_; ///< those that were probed, and alive, since there is a reason to give up or to tell
  std::optional<std::vector<Record>> before_; ///< everybody, before seen_ was observed
  /// Those that asked and were stopped when seen_ was observed. They keep their tickets: one that continues is ahead
  /// again.
  std::vector<Record> stopped_;
  bool queued_ = false;                     ///< whether others may have seen this claim wait
  std::optional<os::PauseTimeLimit> waits_; ///< from then on
  std::uint64_t own_excess_bytes_ = 0;
  int looks_for_external_memory_ = 0;
  DeviceMask kept_out_ = 0;                                 ///< as Evaluation::kept_out, before
  bool was_late_ = false;                                   ///< seen_ was old when a grant was to be made of it
  KernelClock::time_point went_on_at_ = KernelClock::now(); ///< when it was seen last that this process goes on
  std::chrono::nanoseconds stood_still_{0};                 ///< for how long it has not
  std::chrono::nanoseconds longest_look_{KernelClock::late_if_stopped}; ///< what takes longer is seen as a stop
  KernelClock::time_point notice_at_;
  KernelClock::time_point look_who_is_stopped_at_;
  std::optional<KernelClock::time_point> left_at_; ///< when those that were notified to leave should have left
};

Result Waiting::run() {
  using Step = NextStep::Step;
  for (;;) {
    if (const auto answer = outdated()) {
      return {*answer, 0, {}, {}};
    }
    see_that_it_goes_on();
    auto all = records_.read();
    if (!queued_ && !grows()) {
      own_slot_.record().claim.ticket = next_ticket(all, own().slot);
    }
    // Since seen_ was observed. Those that ended count as before: it shows their memory free.
    const bool nobody_gave_back = before_ && same_claims(*before_, all, asked(), own().slot);
    const Evaluation evaluation = evaluate(all, nobody_gave_back);
    const NextStep next = next_step(evaluation, nobody_gave_back);
    if (next.step == Step::grant) {
      return grows() ? grow() : grant(std::get<policy::Grant>(evaluation.decision));
    }
    if (next.step == Step::refuse) {
      return give_up({Result::Kind::refused, 0, std::get<policy::Refusal>(evaluation.decision), {}});
    }
    if (next.step == Step::give_up) {
      return give_up_for(evaluation, next);
    }
    if (next.step == Step::count_own_bytes) {
      own_excess_bytes_ += evaluation.blocked.own_excess_bytes;
      own_slot_.record().claim.overhead_bytes += evaluation.blocked.own_excess_bytes;
      ended_ = evaluation.dead;
      looks_for_external_memory_ = 0;
      was_late_ = false;
      continue;
    }
    if (next.step == Step::wait) {
      say_in_the_record(evaluation); // under the mutex
    }
    before_ = std::move(all);
    if (next.step == Step::observe) {
      was_late_ = next.is_old;
      guard_.unlock();
      observe({});
      continue;
    }
    ended_ = evaluation.dead;
    if (next.step == Step::observe_again) {
      ++looks_for_external_memory_;
      guard_.unlock();
      observe({});
      continue;
    }
    looks_for_external_memory_ = 0;
    was_late_ = false;
    if (next.step == Step::probe) {
      probe(evaluation);
    } else {
      wait(evaluation, next);
    }
  }
}

/// After a look, or a sleep. The time in which it was stopped counts towards no limit: those for whom it waits may have
/// been stopped with it. A look that takes long may be that of a slow device, so the next one may take twice as long.
void Waiting::see_that_it_goes_on(std::optional<std::chrono::nanoseconds> slept) {
  const auto now = KernelClock::now();
  const auto stood_still = now - std::exchange(went_on_at_, now) - slept.value_or(std::chrono::nanoseconds{0});
  if (stood_still < (slept ? KernelClock::late_if_stopped : longest_look_)) {
    return;
  }
  longest_look_ = slept ? longest_look_ : 2 * stood_still;
  stood_still_ += stood_still;
  if (left_at_) {
    left_at_ = put_off(*left_at_, stood_still);
  }
  if (waits_) {
    os::PauseTimeLimit::extend(until() - now);
  }
}

/// Of a lease that grows: the answer, if another thread has released it meanwhile, or made it as large.
std::optional<Result::Kind> Waiting::outdated() {
  if (!grows()) {
    return std::nullopt;
  }
  const policy::Claim& now = own_slot_.record().claim;
  if (now.stage != Stage::holding || now.ticket != own().claim.ticket) {
    return Result::Kind::would_wait;
  }
  held_ = own_slot_.record();
  return now.lease_bytes >= grows_to_ ? std::optional{Result::Kind::granted} : std::nullopt;
}

/// Of everybody as their records say, but for those that were seen to end, or stopped: does not find out who is alive
/// or stopped, and asks no device what it shows.
Evaluation Waiting::evaluate(std::vector<Record> all, bool nobody_gave_back) const {
  records_.reap(all, ended_, seen_);
  for (Record& record : all) {
    record.claim.stopped = has(stopped_, record);
  }
  const std::size_t position = own_slot_.with_own(all);
  if (!grows()) {
    auto snapshot = records_.snapshot(all, asked(), seen_);
    snapshot.external_is_certain = nobody_gave_back && seen_.complete;
    return ledger::evaluate(all, position, snapshot, seen_, queued_);
  }
  all[position].claim.lease_bytes = grows_to_; // what it has beyond the held lease is its own, up to the larger one
  const auto growing = policy::with_growing(records_.snapshot(all, asked(), seen_), position, own().claim.lease_bytes);
  return ledger::evaluate(all, position, growing, seen_, queued_);
}

NextStep Waiting::next_step(const Evaluation& evaluation, bool nobody_gave_back) const {
  using Step = NextStep::Step;
  NextStep next;
  next.now = KernelClock::now();
  const bool grants = std::holds_alternative<policy::Grant>(evaluation.decision);
  // A process may be stopped for hours between its observation and this look. Only once in a row: where the mutex
  // takes that long, the request has to be granted some time.
  next.is_old = grants && !was_late_ && later(seen_.began, patience_.observation_lasts) < next.now;
  if (!evaluation.decided || next.is_old) {
    next.step = Step::observe;
    return next;
  }
  if (grants || std::holds_alternative<policy::Refusal>(evaluation.decision)) {
    next.step = grants ? Step::grant : Step::refuse;
    return next;
  }
  // What was given back since seen_ was observed looks like an external process's, as long as others can be shown to
  // have had it.
  if ((evaluation.external || evaluation.may_pass) && looks_for_external_memory_ < max_looks_for_external_memory &&
      !nobody_gave_back) {
    next.step = Step::observe_again;
    return next;
  }
  // That memory is not free again before this request is answered: it is this process's own, like its context, and not
  // an external process's. If everybody does so, it shows who is stuck.
  if (!queued_ && own().claim.stage == Stage::waiting && evaluation.blocked.own_excess_bytes > 0) {
    next.step = Step::count_own_bytes;
    return next;
  }
  // The memory of the dead is on its way back: that is no reason to say that somebody is there.
  next.leave_until = left_at_.value_or(later(next.now, patience_.leaving_lasts));
  next.they_leave = evaluation.they_leave && next.now < next.leave_until;
  next.may_not_wait = !patience_.may_wait && !evaluation.for_the_dead_only() && !next.they_leave;
  next.tells = next.now >= notice_at_;
  const bool gives_up = next.may_not_wait || (next.now >= until() && !next.they_leave) || evaluation.stuck;
  const bool names_somebody = gives_up || (next.tells && patience_.on_wait);
  // Not those who have ended and were not seen to.
  const bool all_probed = std::all_of(evaluation.living.begin(), evaluation.living.end(),
                                      [&](const Record& record) { return has(probed_, record); });
  next.step = names_somebody && !all_probed ? Step::probe : gives_up ? Step::give_up : Step::wait;
  return next;
}

Result Waiting::grant(const policy::Grant& grant) {
  own_slot_.require_in_place();
  policy::Claim& claim = own_slot_.record().claim;
  const bool enters = claim.stage == Stage::entering;
  claim.stage = enters ? Stage::inside : Stage::holding;
  claim.devices = enters ? grant.devices : claim.devices;
  claim.behind = 0;
  own_slot_.write();
  // Those that it kept waiting have to look again. A process that enters may have been in the way on devices that it
  // did not take, and those behind it there watched it and nobody else.
  if (queued_ && enters) {
    records_.notify_all_queued();
  } else if (queued_) {
    records_.notify_concerned(claim.ticket);
  }
  return {Result::Kind::granted, grant.devices, {}, {}};
}

/// The claim keeps its ticket: the growth has delayed nobody, and later requests must not delay it. Nobody is notified,
/// since nobody can have more now than before.
Result Waiting::grow() {
  own_slot_.require_in_place();
  std::uint64_t& bytes = own_slot_.record().claim.lease_bytes;
  const std::uint64_t held = std::exchange(bytes, grows_to_);
  try {
    own_slot_.correct();
  } catch (...) {
    bytes = held;
    throw;
  }
  return {Result::Kind::granted, own().claim.wanted, {}, {}};
}

Result Waiting::give_up(Result result) {
  if (grows()) {
    return result;
  }
  result.blocked.own_overhead_bytes = own().claim.overhead_bytes;
  result.blocked.own_excess_bytes = own_excess_bytes_;
  own_slot_.withdraw_request();
  own_slot_.write();
  if (queued_) {
    records_.notify_all_queued();
  }
  return result;
}

Result Waiting::give_up_for(const Evaluation& evaluation, const NextStep& next) {
  const auto kind = next.may_not_wait     ? Result::Kind::would_wait
                    : next.now >= until() ? Result::Kind::timed_out
                                          : Result::Kind::stuck;
  auto result = give_up({kind, 0, {}, for_people(evaluation.blocked)});
  guard_.unlock();
  mark_ended(result.blocked, kind == Result::Kind::timed_out);
  return result;
}

void Waiting::probe(const Evaluation& evaluation) {
  guard_.unlock();
  const auto exited = in_slots(evaluation.living, watches_.ended_among(slots_of(evaluation.living)));
  probed_.clear();
  std::copy_if(evaluation.living.begin(), evaluation.living.end(), std::back_inserter(probed_),
               [&](const Record& record) { return !has(exited, record); });
  add_all(ended_, exited);
  observe(ahead_among(probed_));
}

/// Under the mutex: that it waits, and behind whom.
void Waiting::say_in_the_record(const Evaluation& evaluation) {
  if (!waits_) {
    waits_.emplace(until() - KernelClock::now());
  }
  if (grows()) {
    own_slot_.wake_fifo().drain(); // not after the sleep: another thread may wait for a new lease by then
    return;
  }
  policy::Claim& claim = own_slot_.record().claim;
  const std::uint64_t behind = std::get<policy::Wait>(evaluation.decision).behind;
  if (queued_ && behind == claim.behind) {
    return;
  }
  claim.behind = behind;
  if (queued_) {
    own_slot_.correct();
    return;
  }
  own_slot_.write();
  queued_ = true;
  if (evaluation.nobody_moves) {
    records_.notify_concerned(); // the first in the queue may be stuck from now on, and has to see that
  }
}

/// Begins under the mutex, and ends with what was observed after the wait, under the mutex again.
void Waiting::wait(const Evaluation& evaluation, const NextStep& next) {
  if (!evaluation.to_leave.empty()) {
    left_at_ = next.leave_until;
    records_.notify(evaluation.to_leave);
  }
  if ((evaluation.kept_out & ~kept_out_) != 0) {
    records_.notify_all_queued(); // those behind it may enter before it now
  }
  kept_out_ = evaluation.kept_out;
  if (next.tells) {
    const bool again = patience_.notice_every > std::chrono::milliseconds{0};
    notice_at_ = again ? next.now + patience_.notice_every : KernelClock::time_point::max();
  }
  std::vector<Record> ahead = ahead_among(evaluation.living);
  probed_.clear();
  if (next.tells && patience_.on_wait) {
    Blocked blocked = for_people(evaluation.blocked);
    // Telling may block, on a terminal that is stopped or a pipe that is full: not while everybody waits for it.
    guard_.unlock();
    mark_ended(blocked, false);
    patience_.on_wait(blocked);
    if (own_slot_.forked()) {
      throw Error{
          "this process was forked by one that waits for the ledger, and has no part in its wait: make a session "
          "of its own, or leave the lease to its parent"};
    }
    went_on_at_ = KernelClock::now(); // the time that telling takes is the caller's
  } else {
    guard_.unlock();
    // Before the next look at the records, not after it: what notifies from now on ends the next sleep.
    if (sleep_until_something_changes(evaluation, next, ahead) && !grows()) {
      own_slot_.wake_fifo().drain();
    }
  }
  if (KernelClock::now() < look_who_is_stopped_at_) {
    ahead.clear();
  }
  observe(ahead);
}

/// Without the mutex. Whether this process was notified.
bool Waiting::sleep_until_something_changes(const Evaluation& evaluation, const NextStep& next,
                                            const std::vector<Record>& ahead) {
  auto until = this->until();
  if (next.they_leave) {
    until = patience_.may_wait ? std::max(until, next.leave_until) : next.leave_until;
  }
  until = std::min(until, notice_at_);
  const bool looks = !ahead.empty() || !stopped_.empty();
  auto woken = sleep(evaluation, looks ? std::min(until, look_who_is_stopped_at_) : until);
  // As long as nobody was stopped or continued, that look needs neither the mutex nor a device.
  while (looks && evaluation.for_the_living_only() && !woken.notified && woken.ended.empty() &&
         KernelClock::now() < until && stopped_among(ahead).empty() &&
         stopped_among(stopped_).size() == stopped_.size()) {
    look_who_is_stopped_at_ = later(KernelClock::now(), patience_.observation_lasts);
    woken = sleep(evaluation, std::min(until, look_who_is_stopped_at_));
  }
  add_all(ended_, in_slots(evaluation.living, woken.ended));
  return woken.notified;
}

/// Without the mutex, which it takes at its end. What is seen is evidence for the next look only. Of `ahead` it finds
/// out who is stopped.
void Waiting::observe(const std::vector<Record>& ahead) {
  const auto began = KernelClock::now();
  const auto found = stopped_among(ahead);
  stopped_ = stopped_among(stopped_);
  add_all(stopped_, found);
  if (!found.empty()) {
    look_who_is_stopped_at_ = began; // the next one ahead may be stopped as well
  } else if (!ahead.empty() || began >= look_who_is_stopped_at_) {
    look_who_is_stopped_at_ = later(began, patience_.observation_lasts);
  }
  seen_ = records_.observe(asked() | devices_of(ended_));
  seen_.began = began;
  guard_.lock();
}

/// For people, with names. The cause comes first: the waiters that this one is behind; then those that hold what these
/// wait for.
Blocked Waiting::for_people(Blocked blocked) const {
  const auto waits = [](const Record& record) { return policy::asked_devices(record.claim) != 0; };
  for (Record& blocker : blocked.blockers) {
    blocker.who = records_.name_of(blocker.slot);
  }
  for (Excess& excess : blocked.excesses) {
    excess.holder.who = records_.name_of(excess.holder.slot);
  }
  const auto others = std::stable_partition(blocked.blockers.begin(), blocked.blockers.end(), waits);
  if (others == blocked.blockers.begin()) {
    return blocked;
  }
  const DeviceMask asked = this->asked();
  for (const auto& record : records_.read_named()) {
    if (!has(blocked.blockers, record) && record.slot != own().slot && record.claim.stage == Stage::holding &&
        (record.claim.wanted & asked) != 0) {
      blocked.blockers.push_back(record);
    }
  }
  return blocked;
}

/// Says of those who are named, and were not probed before, whether they have ended, and if others keep their records
/// then, with `by_whom` which. Without the mutex.
void Waiting::mark_ended(Blocked& blocked, bool by_whom) const {
  for (Record& blocker : blocked.blockers) {
    const bool has_ended = ledger::has_ended(blocker); // before the probe: then it is not its own FIFO that lives
    blocker.alive = blocker.alive && records_.lives(blocker.slot);
    if (blocker.alive && has_ended) {
      blocker.kept_by = by_whom ? records_.process_with(blocker.slot).value_or(0) : 0;
    }
  }
}

/// Those of `blockers` of which it matters whether their processes are stopped: one that asks, and comes before this
/// claim, would not be in the way then; one that is idle would not leave.
std::vector<Record> Waiting::ahead_among(const std::vector<Record>& blockers) const {
  std::vector<Record> ahead;
  std::copy_if(blockers.begin(), blockers.end(), std::back_inserter(ahead), [&](const Record& blocker) {
    const policy::Claim& claim = blocker.claim;
    const bool comes_before = claim.stage != own().claim.stage || claim.ticket < own().claim.ticket;
    return !claim.stopped && (claim.stage == Stage::idle || (policy::asked_devices(claim) != 0 && comes_before));
  });
  return ahead;
}

/// Sleeps until something that was counted has changed, or until `until`. Without the mutex: whoever takes the slot of
/// one that ends before it is watched notifies.
os::Woken Waiting::sleep(const Evaluation& evaluation, KernelClock::time_point until) {
  using std::chrono::milliseconds;
  own_slot_.require_in_place();
  if (auto ended = watches_.watch(slots_of(evaluation.living)); !ended.empty()) {
    return {false, std::move(ended)};
  }
  auto at_most = milliseconds::max();
  if (until != KernelClock::time_point::max()) {
    at_most = std::chrono::ceil<milliseconds>(std::max(until - KernelClock::now(), KernelClock::duration::zero()));
  }
  if (!evaluation.dead.empty()) {
    at_most = std::min(at_most, look_for_memory_of_the_dead);
  } else if (evaluation.external || evaluation.may_pass) {
    at_most = std::min(at_most, look_for_external_memory);
  }
  auto woken = watches_.wait(own_slot_.wake_fifo(), at_most);
  see_that_it_goes_on(woken.slept);
  return woken;
}

} // namespace

Result wait_for_grant(OwnSlot& own_slot, std::unique_lock<os::FileLock>& guard, const Patience& patience,
                      Observations seen) {
  Waiting waiting{own_slot, guard, patience, std::move(seen)};
  try {
    return waiting.run();
  } catch (...) {
    if (own_slot.forked()) {
      throw; // in on_wait: the slot is the parent's, which goes on waiting
    }
    own_slot.withdraw_request();
    try {
      if (!guard.owns_lock()) {
        guard.lock();
      }
      waiting.give_up({});
    } catch (const LedgerError& error) {
      own_slot.give_up(error.what()); // a process that cannot take its claim back must not be waited for
    }
    throw;
  }
}

bool grow_lease(OwnSlot& own_slot, std::unique_lock<os::FileLock>& guard, std::uint64_t bytes, Patience patience,
                Observations seen) {
  patience.may_wait = false;
  patience.on_wait = {};
  patience.until = KernelClock::now() + patience.leaving_lasts;
  return Waiting{own_slot, guard, patience, std::move(seen), bytes}.run().kind == Result::Kind::granted;
}

} // namespace gputest::ledger
