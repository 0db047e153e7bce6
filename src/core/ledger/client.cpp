// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/client.hpp"

#include "core/os/entry_page.hpp"
#include "core/os/process.hpp"
#include "core/policy/leaving.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;
using std::chrono::steady_clock;

namespace {

/// The memory of a killed process comes back within about 110 ms (H200), and no device tells when: look again so often.
constexpr std::chrono::milliseconds look_for_memory_of_the_dead{3};
/// Nor does a device tell when a program that is not on the ledger frees memory.
constexpr std::chrono::milliseconds look_for_external_memory{200};

/// A process that releases between two looks makes its memory seem an external process's: look again at once, but no
/// oftener than this before it is believed. Where so much changes there is soon another reason to look.
constexpr int max_looks_for_external_memory = 3;

std::vector<std::size_t> slots_of(const std::vector<Record>& entries) {
  std::vector<std::size_t> slots(entries.size());
  std::transform(entries.begin(), entries.end(), slots.begin(), [](const Record& entry) { return entry.slot; });
  return slots;
}

bool has(const std::vector<Record>& entries, const Record& one) {
  return std::any_of(entries.begin(), entries.end(), [&](const Record& entry) { return is_same(entry, one); });
}

/// Those of `entries` whose slots are in `slots`.
std::vector<Record> in_slots(const std::vector<Record>& entries, const std::vector<std::size_t>& slots) {
  std::vector<Record> found;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(found),
               [&](const Record& entry) { return std::find(slots.begin(), slots.end(), entry.slot) != slots.end(); });
  return found;
}

/// Those of `records` whose processes are stopped. Without the mutex.
std::vector<Record> stopped_among(const std::vector<Record>& records) {
  std::vector<Record> stopped;
  std::copy_if(records.begin(), records.end(), std::back_inserter(stopped),
               [](const Record& record) { return os::is_stopped(static_cast<pid_t>(record.pid), record.start_time); });
  return stopped;
}

/// Later by `duration`, of which max() is for ever.
steady_clock::time_point later(steady_clock::time_point when, std::chrono::milliseconds duration) {
  return duration == std::chrono::milliseconds::max() ? steady_clock::time_point::max() : when + duration;
}

/// Whether everybody else claims the same of these devices.
bool same_claims(const std::vector<Record>& before, const std::vector<Record>& now, DeviceMask devices,
                 std::size_t own_slot) {
  const auto claims = [&](const std::vector<Record>& all) {
    std::vector<std::array<std::uint64_t, 6>> figures;
    for (const Record& entry : all) {
      const policy::Claim& claim = entry.claim;
      if (entry.slot != own_slot && (claim.devices & devices) != 0) {
        const bool holds = claim.stage == Stage::holding;
        figures.push_back({entry.slot, entry.identity, claim.devices, claim.overhead_bytes, holds ? claim.wanted : 0,
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
  for (const auto& entry : all) {
    if (entry.slot != own_slot && entry.claim.ticket < UINT64_MAX) {
      last = std::max(last, entry.claim.ticket);
    }
  }
  return last + 1;
}

void add_all(std::vector<Record>& to, const std::vector<Record>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// A driver may show so much in use of a device that nobody uses.
constexpr std::uint64_t idle_bytes = std::uint64_t{32} << 20U;

/// Says in `blocked` whose the external memory of these devices is; the process at `own` is not named.
void attribute_external(Blocked& blocked, const std::vector<Record>& all, std::size_t own, DeviceMask devices,
                        const Observations& seen) {
  for_each_device(devices, [&](std::size_t index) {
    const auto observation = seen.devices.find(index);
    if (observation == seen.devices.end()) {
      return;
    }
    const DeviceMask device = DeviceMask{1} << index;
    std::uint64_t external = observation->second->capacity(all, device).external_bytes;
    const auto beyond = observation->second->beyond_claims(all, device);
    bool known = false;
    for (std::size_t i = 0; i < beyond.size(); ++i) {
      external -= std::min(external, beyond[i]);
      known = known || beyond[i] > 0;
      if (i == own) {
        blocked.own_excess_bytes = std::max(blocked.own_excess_bytes, beyond[i]);
      } else if (beyond[i] > 0) {
        blocked.excesses.push_back({all[i], beyond[i]});
      }
    }
    blocked.external = blocked.external || external > (known ? idle_bytes : 0);
  });
}

DeviceMask devices_of(const std::vector<Record>& entries) {
  DeviceMask devices = 0;
  for (const Record& entry : entries) {
    devices |= entry.claim.devices;
  }
  return devices;
}

} // namespace

/// One look at the ledger for the claim in own_: the decision, and who stands in the way.
struct Client::Look {
  policy::Decision decision;
  Blocked blocked;
  std::vector<Record> living;   ///< those in the way that were not seen to end
  std::vector<Record> dead;     ///< and those that have ended, and whose memory is not back
  std::vector<Record> to_leave; ///< of the living, the idle ones that have to leave
  bool they_leave = false;      ///< whether it waits for those, and for the dead, and for nobody else
  bool external = false;        ///< memory that no claim covers stands in the way too
  bool decided = false;         ///< what was seen of the devices was enough
  bool nobody_moves = false;    ///< everybody on one of its devices waits
  bool stuck = false;           ///< and it can never be granted

  /// Whether memory of ended processes stands in the way, and nothing else.
  [[nodiscard]] bool for_the_dead_only() const { return living.empty() && !external; }

  /// Whether nothing stands in the way that has to be looked at again and again.
  [[nodiscard]] bool for_the_living_only() const { return dead.empty() && !external; }
};

Client::Client(os::SlotStore& store, Records& records) : store_{&store}, records_{&records} {}

void Client::inherit_across_exec() { liveness_.inherit_across_exec(); }

bool Client::forked() const { return liveness_ && own_.pid != os::own_pid(); }

Observations Client::take(std::unique_lock<os::FileLock>& guard, DeviceMask devices) {
  const bool has_place = liveness_ || !why_given_up_.empty();
  if (has_place) {
    require_kept();
  }
  const auto known = has_place ? std::vector<Record>{} : records_->read();
  guard.unlock();
  const auto ended = in_slots(known, LivenessWatches{*store_}.ended_among(slots_of(known)));
  auto seen = records_->observe(devices | devices_of(ended));
  const auto start_time = os::start_time_of(os::own_pid());
  guard.lock();
  if (liveness_ || !why_given_up_.empty()) {
    require_kept(); // another thread may have taken it meanwhile
    return seen;
  }
  auto all = records_->read();
  records_->reap(all, ended, seen);
  auto taken = store_->take([&](std::size_t slot) {
    return std::none_of(all.begin(), all.end(), [&](const Record& entry) { return entry.slot == slot; });
  });
  fifo_ = os::WakeFifo{store_->wake_fifo(taken.slot)};
  liveness_ = std::move(taken.liveness);
  own_.slot = taken.slot;
  own_.pid = os::own_pid();
  own_.start_time = start_time.value_or(0);
  own_.uid = store_->owner_of(own_.slot);
  own_.identity = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  // A process that still watches this liveness FIFO for the exit of its last owner cannot detect that exit any more.
  records_->notify_all_queued();
  return seen;
}

void Client::require_kept() const {
  if (!why_given_up_.empty()) {
    throw LedgerError{"this process has lost its place on the ledger: " + why_given_up_};
  }
  liveness_.require_kept();
  fifo_.require_kept();
}

/// Throws LedgerError if others do not find the store, or this process's liveness FIFO in it, where it was.
void Client::require_in_place() const {
  store_->require_in_place();
  if (liveness_) { // else there is more to say than that it is gone: require_kept()
    liveness_.require_in_place(store_->liveness_fifo(own_.slot));
  }
}

void Client::give_up_slot(const std::string& why) {
  liveness_ = os::LivenessFifo{};
  fifo_ = os::WakeFifo{};
  why_given_up_ = why;
}

void Client::write() {
  own_.since = std::chrono::system_clock::now();
  correct();
}

void Client::correct() {
  require_kept();
  records_->write(own_);
}

void Client::stop_wanting() {
  const bool has_entered = own_.claim.stage != Stage::entering;
  own_.claim.stage = has_entered ? Stage::inside : Stage::outside;
  own_.claim.behind = 0;
  own_.claim.wanted = 0;
  own_.claim.lease_bytes = 0;
  own_.claim.exclusive = false;
  own_.claim.medium_lock = false;
}

void Client::become_idle() {
  // Under the mutex, before the record says so: whoever reads the record notifies after this.
  fifo_.drain();
  change_stage(Stage::idle);
}

void Client::resume() { change_stage(Stage::inside); }

void Client::change_stage(Stage stage) {
  const Stage before = std::exchange(own_.claim.stage, stage);
  try {
    write();
  } catch (...) {
    own_.claim.stage = before;
    throw;
  }
}

DeviceMask Client::asked_of_own_devices() const {
  DeviceMask asked = 0;
  for (const Record& entry : records_->read()) {
    const DeviceMask devices = policy::asked_devices(entry.claim);
    asked |= (devices & own_.claim.devices) != 0 && entry.claim.behind == 0 ? devices : 0;
  }
  return asked;
}

bool Client::is_in_the_way(const Observations& seen) const {
  auto all = records_->read();
  const std::size_t position = with_own(all);
  return policy::is_in_the_way(records_->snapshot(all, asked_of_own_devices(), seen), position);
}

std::size_t Client::with_own(std::vector<Record>& all) const {
  auto own = std::find_if(all.begin(), all.end(), [&](const Record& entry) { return entry.slot == own_.slot; });
  if (own == all.end()) {
    own = all.insert(all.end(), own_);
  }
  *own = own_;
  return static_cast<std::size_t>(own - all.begin());
}

Blocked Client::others_on(DeviceMask devices) const {
  Blocked blocked;
  for (const auto& entry : records_->read_named()) {
    if (entry.slot != own_.slot && (entry.claim.devices & devices) != 0) {
      blocked.blockers.push_back(entry);
    }
  }
  return blocked;
}

Blocked Client::beyond_claims(DeviceMask devices, const Observations& seen) const {
  const auto all = records_->read_named();
  Blocked blocked;
  attribute_external(blocked, all, all.size(), devices, seen);
  return blocked;
}

/// For people, with names. The cause comes first: the waiters that this one is behind; then those that hold what these
/// wait for.
Blocked Client::for_people(Blocked blocked) const {
  const auto waits = [](const Record& entry) { return policy::asked_devices(entry.claim) != 0; };
  for (Record& blocker : blocked.blockers) {
    blocker.who = records_->name_of(blocker.slot);
  }
  for (Excess& excess : blocked.excesses) {
    excess.holder.who = records_->name_of(excess.holder.slot);
  }
  const auto others = std::stable_partition(blocked.blockers.begin(), blocked.blockers.end(), waits);
  if (others == blocked.blockers.begin()) {
    return blocked;
  }
  const DeviceMask asked = policy::asked_devices(own_.claim);
  for (const auto& entry : records_->read_named()) {
    if (!has(blocked.blockers, entry) && entry.slot != own_.slot && entry.claim.stage == Stage::holding &&
        (entry.claim.wanted & asked) != 0) {
      blocked.blockers.push_back(entry);
    }
  }
  return blocked;
}

/// Says of those who are named, and were not probed before, whether they have ended. Without the mutex.
void Client::mark_ended(Blocked& blocked) const {
  for (Record& blocker : blocked.blockers) {
    blocker.alive = blocker.alive && records_->lives(blocker.slot);
  }
}

/// Those of `blockers` of which it matters whether their processes are stopped: one that asks, and comes before this
/// claim, would not be in the way then; one that is idle would not leave.
std::vector<Record> Client::ahead_among(const std::vector<Record>& blockers) const {
  std::vector<Record> ahead;
  std::copy_if(blockers.begin(), blockers.end(), std::back_inserter(ahead), [&](const Record& blocker) {
    const policy::Claim& claim = blocker.claim;
    const bool comes_before = claim.stage != own_.claim.stage || claim.ticket < own_.claim.ticket;
    return !claim.stopped && (claim.stage == Stage::idle || (policy::asked_devices(claim) != 0 && comes_before));
  });
  return ahead;
}

/// Looks at `all` as their records say, but for those in `ended` and in `stopped`: does not find out who is alive or
/// stopped, and asks no device what it shows. `queued`: others may have seen this claim wait.
Client::Look Client::look(std::vector<Record> all, const std::vector<Record>& ended, const std::vector<Record>& stopped,
                          const Observations& seen, bool queued) const {
  records_->reap(all, ended, seen);
  for (Record& record : all) {
    record.claim.stopped = has(stopped, record);
  }
  const std::size_t position = with_own(all);
  const auto snapshot = records_->snapshot(all, policy::asked_devices(own_.claim), seen);
  Look look;
  look.decision = policy::decide(snapshot, position);
  // A process that passes others must not delay them: how much external processes have of the device has to be known.
  const bool nobody_else_waits = std::none_of(all.begin(), all.end(), [&](const Record& entry) {
    return entry.slot != own_.slot && entry.claim.stage == Stage::waiting &&
           (entry.claim.wanted & own_.claim.wanted) != 0;
  });
  look.decided = seen.complete || (std::holds_alternative<policy::Grant>(look.decision) && nobody_else_waits);
  if (const auto* wait = std::get_if<policy::Wait>(&look.decision)) {
    look.external = wait->external;
    look.blocked.own_overhead_bytes = own_.claim.overhead_bytes;
    if (wait->external || !queued) {
      attribute_external(look.blocked, all, position, policy::asked_devices(own_.claim), seen);
    }
    if (!wait->external) {
      look.blocked.excesses.clear();
      look.blocked.external = false;
    }
    for (const std::size_t blocker : wait->blockers) {
      look.blocked.blockers.push_back(all[blocker]);
      (all[blocker].alive ? look.living : look.dead).push_back(all[blocker]);
    }
    const auto leaving = policy::who_has_to_leave(snapshot, position, *wait);
    for (const std::size_t idle : leaving.positions) {
      look.to_leave.push_back(all[idle]);
    }
    look.they_leave =
        !look.to_leave.empty() && (leaving.enough || (look.to_leave.size() == look.living.size() && !look.external));
    if (wait->behind == 0) {
      look.stuck = policy::is_stuck(snapshot, position);
    }
    for_each_device(own_.claim.wanted, [&](std::size_t index) {
      look.nobody_moves = look.nobody_moves || policy::everybody_waits(snapshot, DeviceMask{1} << index);
    });
  }
  return look;
}

Result Client::wait_for_grant(std::unique_lock<os::FileLock>& guard, const Patience& patience, Observations seen) {
  auto notice_at = steady_clock::now() + patience.notice_after;
  const DeviceMask asked = policy::asked_devices(own_.claim);
  bool queued = false; // whether others may have seen this claim wait
  std::optional<os::NotCounted> waits;
  std::uint64_t own_excess_bytes = 0;
  const auto give_up = [&](Result result) {
    result.blocked.own_overhead_bytes = own_.claim.overhead_bytes;
    result.blocked.own_excess_bytes = own_excess_bytes;
    stop_wanting();
    write();
    if (queued) {
      records_->notify_all_queued();
    }
    return result;
  };
  LivenessWatches watches{*store_};
  try {
    std::vector<Record> ended;  // those in the way that were seen to end, before `seen` was observed
    std::vector<Record> probed; // those that were probed, and alive, since there is a reason to give up or to tell
    std::optional<std::vector<Record>> before; // everybody, before `seen` was observed
    // Those that asked and were stopped when `seen` was observed. They keep their tickets: one that continues is ahead
    // again.
    std::vector<Record> stopped;
    auto look_who_is_stopped_at = later(steady_clock::now(), patience.observation_lasts);
    int looks_for_external_memory = 0;
    bool was_late = false;
    std::optional<steady_clock::time_point> left_at; // when those that were notified to leave should have left
    // Without the mutex. What is seen there is evidence for the next look only. Of `ahead` it finds out who is stopped.
    const auto observe_and_lock = [&](const std::vector<Record>& ahead) {
      const auto began = steady_clock::now();
      const auto found = stopped_among(ahead);
      stopped = stopped_among(stopped);
      add_all(stopped, found);
      if (!found.empty()) {
        look_who_is_stopped_at = began; // the next one ahead may be stopped as well
      } else if (!ahead.empty() || began >= look_who_is_stopped_at) {
        look_who_is_stopped_at = later(began, patience.observation_lasts);
      }
      seen = records_->observe(asked | devices_of(ended));
      seen.began = began;
      guard.lock();
    };
    for (;;) {
      auto all = records_->read();
      if (!queued) {
        own_.claim.ticket = next_ticket(all, own_.slot);
      }
      const Look look = this->look(all, ended, stopped, seen, queued);
      const bool grants = std::holds_alternative<policy::Grant>(look.decision);
      // A process may be stopped for hours between its observation and this look. Only once in a row: where the mutex
      // takes that long, the request has to be granted some time.
      const bool is_old = grants && !was_late && later(seen.began, patience.observation_lasts) < steady_clock::now();
      if (!look.decided || is_old) {
        was_late = is_old;
        before = std::move(all);
        guard.unlock();
        observe_and_lock({});
        continue;
      }
      if (const auto* grant = std::get_if<policy::Grant>(&look.decision)) {
        require_in_place();
        const bool enters = own_.claim.stage == Stage::entering;
        own_.claim.stage = enters ? Stage::inside : Stage::holding;
        own_.claim.devices = enters ? grant->devices : own_.claim.devices;
        own_.claim.behind = 0;
        write();
        // Those that it kept waiting have to look again. A process that enters may have been in the way on devices that
        // it did not take, and those behind it there watched it and nobody else.
        if (queued && enters) {
          records_->notify_all_queued();
        } else if (queued) {
          records_->notify_concerned(own_.claim.ticket);
        }
        return Result{Result::Kind::granted, grant->devices, {}, {}};
      }
      if (const auto* refusal = std::get_if<policy::Refusal>(&look.decision)) {
        return give_up({Result::Kind::refused, 0, *refusal, {}});
      }
      ended = look.dead;
      // What was given back since `seen` was observed looks like an external process's, as long as others can be shown
      // to have had it.
      if (look.external && looks_for_external_memory < max_looks_for_external_memory &&
          (!before || !same_claims(*before, all, asked, own_.slot))) {
        ++looks_for_external_memory;
        before = std::move(all);
        guard.unlock();
        observe_and_lock({});
        continue;
      }
      looks_for_external_memory = 0;
      was_late = false;
      // Memory that this process has without a lease is not free again before this request is answered: it is this
      // process's own, like its context, and not an external process's. If everybody does so, it shows who is stuck.
      if (!queued && own_.claim.stage == Stage::waiting && look.blocked.own_excess_bytes > 0) {
        own_excess_bytes += look.blocked.own_excess_bytes;
        own_.claim.overhead_bytes += look.blocked.own_excess_bytes;
        continue;
      }
      const auto now = steady_clock::now();
      // The memory of the dead is on its way back: that is no reason to say that somebody is there.
      const auto leave_until = left_at.value_or(later(now, patience.leaving_lasts));
      const bool they_leave = look.they_leave && now < leave_until;
      const bool may_not_wait = !patience.may_wait && !look.for_the_dead_only() && !they_leave;
      const bool gives_up = may_not_wait || (now >= patience.until && !they_leave) || look.stuck;
      const bool tells = now >= notice_at;
      if (gives_up || (tells && patience.on_wait)) {
        // Not because of those who have ended and were not seen to.
        const bool all_probed = std::all_of(look.living.begin(), look.living.end(),
                                            [&](const Record& entry) { return has(probed, entry); });
        if (!all_probed) {
          before = std::move(all);
          guard.unlock();
          const auto exited = in_slots(look.living, watches.ended_among(slots_of(look.living)));
          probed.clear();
          std::copy_if(look.living.begin(), look.living.end(), std::back_inserter(probed),
                       [&](const Record& entry) { return !has(exited, entry); });
          add_all(ended, exited);
          observe_and_lock(ahead_among(probed));
          continue;
        }
      }
      if (gives_up) {
        const auto kind = may_not_wait            ? Result::Kind::would_wait
                          : now >= patience.until ? Result::Kind::timed_out
                                                  : Result::Kind::stuck;
        auto result = give_up({kind, 0, {}, for_people(look.blocked)});
        guard.unlock();
        mark_ended(result.blocked);
        return result;
      }
      const std::uint64_t behind = std::get<policy::Wait>(look.decision).behind;
      if (queued && behind != own_.claim.behind) {
        own_.claim.behind = behind;
        correct();
      }
      if (!queued) {
        own_.claim.behind = behind;
        write();
        queued = true;
        waits.emplace();
        if (look.nobody_moves) {
          records_->notify_concerned(); // the first in the queue may be stuck from now on, and has to see that
        }
      }
      if (!look.to_leave.empty()) {
        left_at = leave_until;
        records_->notify(look.to_leave);
      }
      if (tells) {
        using std::chrono::milliseconds;
        const bool again = patience.notice_every > milliseconds{0};
        notice_at = again ? now + patience.notice_every : steady_clock::time_point::max();
      }
      bool notified = false;
      std::vector<Record> ahead = ahead_among(look.living);
      probed.clear();
      before = std::move(all);
      if (tells && patience.on_wait) {
        Blocked blocked = for_people(look.blocked);
        // Telling may block, on a terminal that is stopped or a pipe that is full: not while everybody waits for it.
        guard.unlock();
        mark_ended(blocked);
        patience.on_wait(blocked);
      } else {
        guard.unlock();
        auto until = patience.until;
        if (they_leave) {
          until = patience.may_wait ? std::max(until, leave_until) : leave_until;
        }
        until = std::min(until, notice_at);
        const bool looks = !ahead.empty() || !stopped.empty();
        auto woken = sleep(look, watches, looks ? std::min(until, look_who_is_stopped_at) : until);
        // As long as nobody was stopped or continued, that look needs neither the mutex nor a device.
        while (looks && look.for_the_living_only() && !woken.notified && woken.ended.empty() &&
               steady_clock::now() < until && stopped_among(ahead).empty() &&
               stopped_among(stopped).size() == stopped.size()) {
          look_who_is_stopped_at = later(steady_clock::now(), patience.observation_lasts);
          woken = sleep(look, watches, std::min(until, look_who_is_stopped_at));
        }
        add_all(ended, in_slots(look.living, woken.ended));
        notified = woken.notified;
      }
      // Before the next look at the records, not after it: what notifies from now on ends the next sleep.
      if (notified) {
        fifo_.drain();
      }
      if (steady_clock::now() < look_who_is_stopped_at) {
        ahead.clear();
      }
      observe_and_lock(ahead);
    }
  } catch (...) {
    stop_wanting();
    try {
      if (!guard.owns_lock()) {
        guard.lock();
      }
      give_up({});
    } catch (const LedgerError& error) {
      give_up_slot(error.what()); // a process that cannot take its claim back must not be waited for
    }
    throw;
  }
}

/// Sleeps until something that was counted has changed, or until `until`. Without the mutex: whoever takes the slot of
/// one that ends before it is watched notifies.
os::Woken Client::sleep(const Look& seen, LivenessWatches& watches, steady_clock::time_point until) const {
  using std::chrono::milliseconds;
  require_in_place();
  if (auto ended = watches.watch(slots_of(seen.living)); !ended.empty()) {
    return {false, std::move(ended)};
  }
  auto at_most = milliseconds::max();
  if (until != steady_clock::time_point::max()) {
    at_most = std::chrono::ceil<milliseconds>(std::max(until - steady_clock::now(), steady_clock::duration::zero()));
  }
  if (!seen.dead.empty()) {
    at_most = std::min(at_most, look_for_memory_of_the_dead);
  } else if (seen.external) {
    at_most = std::min(at_most, look_for_external_memory);
  }
  return watches.wait(fifo_, at_most);
}

} // namespace gputest::ledger
