#include "ledger/place.hpp"

#include <gputest/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;
using std::chrono::steady_clock;

namespace {

/// The memory of a killed process comes back within about 110 ms (H200), and no device tells when: look again so often.
constexpr std::chrono::milliseconds look_for_memory_of_the_dead{3};
/// Nor does a device tell when a program that is not on the ledger frees memory.
constexpr std::chrono::milliseconds look_for_memory_of_strangers{200};

std::vector<std::size_t> slots_of(const std::vector<Entry>& entries) {
  std::vector<std::size_t> slots(entries.size());
  std::transform(entries.begin(), entries.end(), slots.begin(), [](const Entry& entry) { return entry.slot; });
  return slots;
}

void add_all(std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

} // namespace

/// One look at the ledger for the claim in own_: the decision, and who stands in the way.
struct Place::Look {
  policy::Decision decision;
  Blocked blocked;
  std::vector<std::size_t> living; ///< slots of those in the way that were not seen to end
  std::vector<std::size_t> dead;   ///< and of those that have ended, and whose memory is not back
  bool nobody_moves = false;       ///< everybody on one of its devices waits
  bool stuck = false;              ///< and it can never be granted

  /// Whether memory of ended processes stands in the way, and nothing else.
  [[nodiscard]] bool for_the_dead_only() const { return living.empty() && !blocked.strangers; }
};

Place::Place(SlotStore& store, Roll& roll) : store_{&store}, roll_{&roll} {}

void Place::inherit_across_exec() const { bell_.inherit_across_exec(); }

bool Place::forked() const { return bell_ && own_.pid != ::getpid(); }

void Place::take() {
  if (bell_ || !why_silent_.empty()) {
    require_kept();
    return;
  }
  auto all = roll_->read();
  roll_->reap(all, Watches{*store_}.ended_among(slots_of(all)));
  auto taken = store_->take([&](std::size_t slot) {
    return std::none_of(all.begin(), all.end(), [&](const Entry& entry) { return entry.slot == slot; });
  });
  bell_ = std::move(taken.bell);
  own_.slot = taken.slot;
  own_.pid = ::getpid();
  own_.uid = ::getuid();
  own_.identity = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  // Whoever still watches this bell for the end of its last owner does not see that end any more.
  roll_->ring_all_queued();
}

void Place::require_kept() const {
  if (!why_silent_.empty()) {
    throw LedgerError{"this process has lost its place on the ledger: " + why_silent_};
  }
  bell_.require_kept();
}

void Place::fall_silent(const std::string& why) {
  bell_ = system::Bell{};
  why_silent_ = why;
}

void Place::write() {
  own_.since = std::chrono::system_clock::now();
  correct();
}

void Place::correct() {
  require_kept();
  roll_->write(own_);
}

void Place::stop_wanting() {
  const bool has_entered = own_.claim.stage != Stage::entering;
  own_.claim.stage = has_entered ? Stage::inside : Stage::outside;
  own_.claim.wanted = 0;
  own_.claim.lease_bytes = 0;
  own_.claim.exclusive = false;
  own_.claim.seat = false;
}

std::size_t Place::with_own(std::vector<Entry>& all) const {
  auto own = std::find_if(all.begin(), all.end(), [&](const Entry& entry) { return entry.slot == own_.slot; });
  if (own == all.end()) {
    own = all.insert(all.end(), own_);
  }
  *own = own_;
  return static_cast<std::size_t>(own - all.begin());
}

Blocked Place::others_on(DeviceMask devices) const {
  Blocked blocked;
  for (const auto& entry : roll_->read_named()) {
    if (entry.slot != own_.slot && (entry.claim.devices & devices) != 0) {
      blocked.blockers.push_back(entry);
    }
  }
  return blocked;
}

/// For people, with names: who waits behind others in the queue wants to know who holds what they all wait for.
Blocked Place::for_people(Blocked blocked) const {
  for (Entry& blocker : blocked.blockers) {
    blocker.who = roll_->name_of(blocker.slot);
  }
  const bool behind_others = std::any_of(blocked.blockers.begin(), blocked.blockers.end(), [](const Entry& blocker) {
    return policy::asked_devices(blocker.claim) != 0;
  });
  if (!behind_others) {
    return blocked;
  }
  const DeviceMask asked = policy::asked_devices(own_.claim);
  for (const auto& entry : roll_->read_named()) {
    const bool known = std::any_of(blocked.blockers.begin(), blocked.blockers.end(),
                                   [&](const Entry& blocker) { return blocker.slot == entry.slot; });
    if (!known && entry.slot != own_.slot && entry.claim.stage == Stage::holding && (entry.claim.wanted & asked) != 0) {
      blocked.blockers.push_back(entry);
      blocked.blockers.back().alive = roll_->lives(entry.slot);
    }
  }
  return blocked;
}

/// Looks at `all` as their records say, but for those in `ended`: asks of nobody whether it lives.
Place::Look Place::look(std::vector<Entry> all, const std::vector<std::size_t>& ended) const {
  roll_->reap(all, ended);
  const std::size_t position = with_own(all);
  const auto snapshot = roll_->snapshot(all, policy::asked_devices(own_.claim));
  Look look;
  look.decision = policy::decide(snapshot, position);
  if (const auto* wait = std::get_if<policy::Wait>(&look.decision)) {
    look.blocked.strangers = wait->strangers;
    for (const std::size_t blocker : wait->blockers) {
      look.blocked.blockers.push_back(all[blocker]);
      (all[blocker].alive ? look.living : look.dead).push_back(all[blocker].slot);
    }
    for_each_device(own_.claim.wanted, [&](std::size_t index) {
      look.nobody_moves = look.nobody_moves || policy::everybody_waits(snapshot, DeviceMask{1} << index);
    });
    look.stuck = policy::is_stuck(snapshot, position);
  }
  return look;
}

Result Place::settle(std::unique_lock<system::FileLock>& guard, const Patience& patience) {
  own_.claim.ticket = 1;
  auto all = roll_->read();
  for (const auto& entry : all) {
    if (policy::asked_devices(entry.claim) != 0 && entry.claim.ticket < UINT64_MAX) {
      own_.claim.ticket = std::max(own_.claim.ticket, entry.claim.ticket + 1);
    }
  }
  const auto notice_at = steady_clock::now() + patience.notice_after;
  bool queued = false; // whether others may have seen this claim wait
  bool told = false;
  const auto give_up = [&](Result result) {
    stop_wanting();
    write();
    if (queued) {
      roll_->ring_all_queued();
    }
    return result;
  };
  Watches watches{*store_};
  try {
    std::vector<std::size_t> ended; // slots of those in the way that were seen to end
    for (;; all = roll_->read()) {
      const Look seen = look(std::move(all), watches.ended_among(ended));
      if (const auto* grant = std::get_if<policy::Grant>(&seen.decision)) {
        store_->require_in_place();
        const bool enters = own_.claim.stage == Stage::entering;
        own_.claim.stage = enters ? Stage::inside : Stage::holding;
        own_.claim.devices = enters ? grant->devices : own_.claim.devices;
        write();
        // The next in the queue is its head now. Who enters may have been in the way on devices that it did not take,
        // and those behind it there watched it and nobody else.
        if (queued && enters) {
          roll_->ring_all_queued();
        } else if (queued) {
          roll_->ring_heads();
        }
        return Result{Result::Kind::granted, grant->devices, {}, {}};
      }
      if (const auto* refusal = std::get_if<policy::Refusal>(&seen.decision)) {
        return give_up({Result::Kind::refused, 0, *refusal, {}});
      }
      ended = seen.dead;
      const auto now = steady_clock::now();
      // The memory of the dead is on its way back: that is no reason to say that somebody is there.
      const bool may_not_wait = !patience.may_wait && !seen.for_the_dead_only();
      const bool gives_up = may_not_wait || now >= patience.until || seen.stuck;
      const bool tells = !told && now >= notice_at;
      if (gives_up || (tells && patience.on_wait)) {
        // Not because of those who have ended and were not seen to.
        if (const auto more = watches.ended_among(seen.living); !more.empty()) {
          add_all(ended, more);
          continue;
        }
      }
      if (gives_up) {
        const auto kind = may_not_wait            ? Result::Kind::would_wait
                          : now >= patience.until ? Result::Kind::timed_out
                                                  : Result::Kind::stuck;
        return give_up({kind, 0, {}, for_people(seen.blocked)});
      }
      if (!queued) {
        write();
        queued = true;
        if (seen.nobody_moves) {
          roll_->ring_heads(); // the first in the queue may be stuck from now on, and has to see that
        }
      }
      told = told || tells;
      bool rung = false;
      if (tells && patience.on_wait) {
        const Blocked blocked = for_people(seen.blocked);
        // Telling may block, on a terminal that is stopped or a pipe that is full: not while everybody waits for it.
        guard.unlock();
        patience.on_wait(blocked);
      } else {
        guard.unlock();
        const auto woken = sleep(seen, watches, told ? patience.until : std::min(patience.until, notice_at));
        add_all(ended, woken.ended);
        rung = woken.rung;
      }
      guard.lock();
      if (rung) {
        bell_.hush(); // before the next look, not after it
      }
    }
  } catch (...) {
    stop_wanting();
    try {
      if (!guard.owns_lock()) {
        guard.lock();
      }
      give_up({});
    } catch (const LedgerError& error) {
      fall_silent(error.what()); // who cannot take its claim back must not be waited for
    }
    throw;
  }
}

/// Sleeps until something that was counted has changed, or until `until`. Without the mutex: whoever takes the slot of
/// one that ends before it is watched rings.
system::Woken Place::sleep(const Look& seen, Watches& watches, steady_clock::time_point until) const {
  using std::chrono::milliseconds;
  store_->require_in_place();
  if (auto ended = watches.watch(seen.living); !ended.empty()) {
    return {false, std::move(ended)};
  }
  auto at_most = milliseconds::max();
  if (until != steady_clock::time_point::max()) {
    at_most = std::chrono::ceil<milliseconds>(std::max(until - steady_clock::now(), steady_clock::duration::zero()));
  }
  if (!seen.dead.empty()) {
    at_most = std::min(at_most, look_for_memory_of_the_dead);
  } else if (seen.blocked.strangers) {
    at_most = std::min(at_most, look_for_memory_of_strangers);
  }
  return watches.wait(bell_, at_most);
}

} // namespace gputest::ledger
