#include "ledger/place.hpp"

#include <gputest/error.hpp>

#include <unistd.h>

#include <algorithm>

namespace gputest::ledger {

using policy::DeviceMask;
using policy::Stage;
using std::chrono::steady_clock;

namespace {

/// The memory of a killed process comes back within about 110 ms (H200), and no device tells when: look again so often.
constexpr std::chrono::milliseconds look_for_memory_of_the_dead{3};
/// Nor does a device tell when a program that is not on the ledger frees memory.
constexpr std::chrono::milliseconds look_for_memory_of_strangers{200};

} // namespace

/// One look at the ledger for the claim in own_: the decision, and who stands in the way.
struct Place::Look {
  policy::Decision decision;
  Blocked blocked;
  bool for_the_dead = false;      ///< memory of ended processes stands in the way
  bool for_the_dead_only = false; ///< and nothing else
  bool nobody_moves = false;      ///< everybody on one of its devices waits
  bool stuck = false;             ///< and it can never be granted
};

Place::Place(SlotStore& store, Roll& roll) : store_{&store}, roll_{&roll} {}

void Place::inherit_across_exec() const { bell_.inherit_across_exec(); }

bool Place::forked() const { return bell_ && own_.pid != ::getpid(); }

void Place::take() {
  if (bell_) {
    return;
  }
  auto all = roll_->read();
  roll_->reap(all, std::vector<Entry>{all});
  for (std::size_t slot = 0; slot < store_->slots(); ++slot) {
    if (std::any_of(all.begin(), all.end(), [&](const Entry& entry) { return entry.slot == slot; })) {
      continue;
    }
    bell_ = system::Bell::take(store_->bell(slot));
    if (bell_) {
      store_->use_slot(slot);
      own_.slot = slot;
      own_.pid = ::getpid();
      own_.uid = ::getuid();
      own_.identity = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
      // Whoever still watches this bell for the end of its last owner does not see that end any more.
      roll_->ring_heads();
      return;
    }
  }
  throw LedgerError{"all " + std::to_string(store_->slots()) + " places of " + store_->path() +
                    " are taken by running processes; run fewer GPU tests at once (ctest -j)"};
}

void Place::write() {
  own_.since = std::chrono::system_clock::now();
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
  for (const auto& entry : roll_->read()) {
    if (entry.slot != own_.slot && (entry.claim.devices & devices) != 0) {
      blocked.blockers.push_back(entry);
    }
  }
  return blocked;
}

/// For people: who waits behind others in the queue wants to know who holds what they all wait for.
Blocked Place::with_holders(Blocked blocked) const {
  const DeviceMask asked = policy::asked_devices(own_.claim);
  for (const auto& entry : roll_->read()) {
    const bool known = std::any_of(blocked.blockers.begin(), blocked.blockers.end(),
                                   [&](const Entry& blocker) { return blocker.slot == entry.slot; });
    if (!known && entry.slot != own_.slot && entry.claim.stage == Stage::holding && (entry.claim.wanted & asked) != 0) {
      blocked.blockers.push_back(entry);
    }
  }
  return blocked;
}

Place::Look Place::look(std::vector<Entry>& all) const {
  for (;;) {
    const std::size_t position = with_own(all);
    const auto snapshot = roll_->snapshot(all, policy::asked_devices(own_.claim));
    Look look{policy::decide(snapshot, position), {}};
    const auto* wait = std::get_if<policy::Wait>(&look.decision);
    if (wait == nullptr) {
      return look;
    }
    look.blocked.strangers = wait->strangers;
    for (const std::size_t blocker : wait->blockers) {
      look.blocked.blockers.push_back(all[blocker]);
    }
    // Only now, when it matters, ask who has ended: a claim that stands in nobody's way may as well be stale.
    if (roll_->reap(all, look.blocked.blockers)) {
      continue;
    }
    for_each_device(own_.claim.wanted, [&](std::size_t index) {
      look.nobody_moves = look.nobody_moves || policy::everybody_waits(snapshot, DeviceMask{1} << index);
    });
    look.stuck = policy::is_stuck(snapshot, position);
    look.for_the_dead_only = !wait->strangers;
    for (auto& blocker : look.blocked.blockers) {
      const auto now = std::find_if(all.begin(), all.end(), [&](const Entry& e) { return e.slot == blocker.slot; });
      blocker.alive = now->alive;
      look.for_the_dead = look.for_the_dead || !blocker.alive;
      look.for_the_dead_only = look.for_the_dead_only && !blocker.alive;
    }
    return look;
  }
}

Result Place::settle(std::unique_lock<system::FileLock>& guard, const Patience& patience) {
  auto all = roll_->read();
  own_.claim.ticket = 1;
  for (const auto& entry : all) {
    own_.claim.ticket = std::max(own_.claim.ticket, entry.claim.ticket + 1);
  }
  const auto notice_at = steady_clock::now() + patience.notice_after;
  bool queued = false; // whether others may have seen this claim wait
  bool told = false;
  const auto give_up = [&](Result result) {
    stop_wanting();
    write();
    if (queued) {
      roll_->ring_heads();
    }
    return result;
  };
  try {
    for (;; all = roll_->read()) {
      bell_.hush();
      const Look seen = look(all);
      if (const auto* grant = std::get_if<policy::Grant>(&seen.decision)) {
        const bool enters = own_.claim.stage == Stage::entering;
        own_.claim.stage = enters ? Stage::inside : Stage::holding;
        own_.claim.devices = enters ? grant->devices : own_.claim.devices;
        write();
        if (queued) {
          roll_->ring_heads(); // the next in the queue is its head now
        }
        return Result{Result::Kind::granted, grant->devices, {}, {}};
      }
      if (const auto* refusal = std::get_if<policy::Refusal>(&seen.decision)) {
        return give_up({Result::Kind::refused, 0, *refusal, {}});
      }
      // The memory of the dead is on its way back: that is no reason to say that somebody is there.
      if (!patience.may_wait && !seen.for_the_dead_only) {
        return give_up({Result::Kind::would_wait, 0, {}, with_holders(seen.blocked)});
      }
      const auto now = steady_clock::now();
      if (now >= patience.until) {
        return give_up({Result::Kind::timed_out, 0, {}, with_holders(seen.blocked)});
      }
      if (seen.stuck) {
        return give_up({Result::Kind::stuck, 0, {}, with_holders(seen.blocked)});
      }
      if (!queued) {
        write();
        queued = true;
        if (seen.nobody_moves) {
          roll_->ring_heads(); // the first in the queue may be stuck from now on, and has to see that
        }
      }
      if (!told && now >= notice_at) {
        told = true;
        if (patience.on_wait) {
          const Blocked blocked = with_holders(seen.blocked);
          // Telling may block, on a terminal that is stopped or a pipe that is full: not while everybody waits for it.
          guard.unlock();
          patience.on_wait(blocked);
          guard.lock();
          continue;
        }
      }
      sleep(guard, seen, told ? patience.until : std::min(patience.until, notice_at));
    }
  } catch (...) {
    if (!guard.owns_lock()) {
      guard.lock();
    }
    give_up({});
    throw;
  }
}

/// Sleeps until something that was counted has changed, or until `until`.
void Place::sleep(std::unique_lock<system::FileLock>& guard, const Look& seen, steady_clock::time_point until) const {
  using std::chrono::milliseconds;
  std::vector<system::BellWatch> watched;
  for (const auto& blocker : seen.blocked.blockers) {
    if (blocker.alive) {
      watched.emplace_back(store_->bell(blocker.slot));
      // It may have ended since it was looked at, and a bell that is opened after that does not report it.
      if (!watched.back().owner_lives()) {
        return;
      }
    }
  }
  auto at_most = milliseconds::max();
  if (until != steady_clock::time_point::max()) {
    at_most = std::chrono::ceil<milliseconds>(std::max(until - steady_clock::now(), steady_clock::duration::zero()));
  }
  if (seen.for_the_dead) {
    at_most = std::min(at_most, look_for_memory_of_the_dead);
  } else if (seen.blocked.strangers) {
    at_most = std::min(at_most, look_for_memory_of_strangers);
  }
  guard.unlock();
  system::wait(bell_, watched, at_most);
  guard.lock();
}

} // namespace gputest::ledger
