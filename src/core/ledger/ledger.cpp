// SPDX-License-Identifier: BSD-3-Clause
#include "core/ledger/ledger.hpp"

#include "core/ledger/own_slot.hpp"
#include "core/ledger/stored_record.hpp"
#include "core/os/process.hpp"
#include "core/policy/queues.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace gputest::ledger {

using policy::Stage;

Ledger::Ledger(const std::string& folder, std::shared_ptr<const DeviceProbe> probe)
    : store_{folder, ledger_name, ledger_layout}, devices_{store_}, records_{store_, devices_, std::move(probe)},
      own_slot_{store_, records_} {}

/// Calls what changes the ledger. If that cannot notify a process, this one must look dead to it; and if the
/// ledger's folder has been removed, that is what has to be said.
template <class Function>
auto Ledger::or_lose_place(Function function) {
  try {
    return function();
  } catch (const os::CannotNotify& error) {
    could_not_notify_ = true;
    own_slot_.give_up(error.what());
    store_.require_in_place();
    throw;
  } catch (const LedgerError&) {
    store_.require_in_place();
    throw;
  }
}

Result Ledger::enter(const EnterRequest& request, const Patience& patience) {
  store_.lock_folder();
  std::unique_lock guard{store_.mutex()};
  if (own_slot_.forked()) {
    throw LedgerError{request.who +
                      " cannot enter the ledger: it was forked by a process that has, and runs under that "
                      "one's claim; start it as a program of its own"};
  }
  return or_lose_place([&] {
    auto seen = own_slot_.take(guard, request.candidates);
    own_slot_.record().who = request.who;
    auto& claim = own_slot_.record().claim = {};
    claim.stage = Stage::entering;
    claim.candidates = request.candidates;
    claim.gpus = request.gpus;
    claim.overhead_bytes = request.overhead_bytes;
    claim.largest_bytes = request.largest_bytes;
    claim.whole_devices = request.whole_devices;
    claim.estimated = request.estimated;
    if (!request.present) {
      return wait_for_grant(own_slot_, guard, patience, std::move(seen));
    }
    auto at_once = patience;
    at_once.may_wait = false;
    at_once.leaving_lasts = std::chrono::milliseconds{0}; // for a larger lease they are notified then
    auto result = wait_for_grant(own_slot_, guard, at_once, std::move(seen));
    if (result.kind == Result::Kind::granted) {
      return result;
    }
    if (!guard.owns_lock()) {
      guard.lock();
    }
    return enter_without_room(request);
  });
}

/// What the process uses is in use, whether it may or not; what it has not taken yet it must not count on.
Result Ledger::enter_without_room(const EnterRequest& request) {
  auto& claim = own_slot_.record().claim;
  claim.stage = Stage::inside;
  claim.devices = request.candidates;
  claim.largest_bytes = 0;
  claim.whole_devices = false;
  own_slot_.write();
  records_.notify_concerned();
  return {Result::Kind::granted, request.candidates, {}, {}};
}

Result Ledger::lease(const LeaseRequest& request, const Patience& patience) {
  auto seen = records_.observe_free_memory_only(request.devices); // before the mutex is taken: it may take milliseconds
  std::unique_lock guard{store_.mutex()};
  release_if_pending();
  require_may_lease(request);
  Record& own = own_slot_.record();
  if (patience.may_wait && !announce(request, seen)) {
    // Of all devices of the process, and once more: what somebody gave back meanwhile looked like an external
    // process's.
    const policy::DeviceMask devices = own.claim.devices;
    guard.unlock();
    seen = records_.observe(devices);
    guard.lock();
    require_may_lease(request);
    if (!announce(request, seen)) {
      Blocked others;
      for (const auto& record : records_.read_named()) {
        if (record.slot != own.slot && (record.claim.devices & request.devices) != 0) {
          others.blockers.push_back(record);
        }
      }
      return Result{Result::Kind::unannounced, 0, {}, std::move(others)};
    }
  }
  own.who = request.who;
  own.claim.stage = Stage::waiting;
  own.claim.wanted = request.devices;
  own.claim.lease_bytes = request.bytes;
  own.claim.exclusive = request.exclusive;
  own.claim.medium_lock = request.medium_lock;
  own.claim.estimated = request.estimated;
  return or_lose_place([&] { return wait_for_grant(own_slot_, guard, patience, std::move(seen)); });
}

bool Ledger::may_wait_for(const LeaseRequest& request) {
  if (request.bytes <= own_slot_.record().claim.largest_bytes) {
    return true;
  }
  const auto seen = records_.observe(own_slot_.record().claim.devices);
  const std::lock_guard guard{store_.mutex()};
  release_if_pending();
  require_may_lease(request);
  return announce(request, seen);
}

void Ledger::require_may_lease(const LeaseRequest& request) const {
  const Record& own = own_slot_.record();
  if (own.claim.stage == Stage::waiting || own.claim.stage == Stage::holding) {
    throw NestedLease{"this process asked for a lease for " + request.who + " while it has one for " + own.who +
                      "; waiting for a second one could deadlock. Give the first back before, or, to lease only around "
                      "the GPU sections of a test, derive its fixture from gputest::ScopedTest"};
  }
  if (own.claim.stage == Stage::idle) {
    throw LedgerError{"a lease for " + request.who + " was asked for by a process that is idle on the ledger"};
  }
  if (own.claim.stage != Stage::inside || own_slot_.forked()) {
    throw LedgerError{"a lease for " + request.who + " was asked for by a process that has not entered the ledger"};
  }
}

bool Ledger::grow(std::uint64_t bytes, const Patience& patience) {
  if (own_slot_.forked()) {
    return false;
  }
  std::unique_lock guard{store_.mutex()};
  release_if_pending();
  const policy::Claim& claim = own_slot_.record().claim;
  if (claim.stage != Stage::holding || claim.exclusive || bytes <= claim.lease_bytes) {
    return claim.stage == Stage::holding;
  }
  const policy::DeviceMask devices = claim.wanted;
  guard.unlock();
  auto seen = records_.observe_free_memory_only(devices);
  guard.lock();
  return grow_lease(own_slot_, guard, bytes, patience, std::move(seen));
}

void Ledger::release() noexcept {
  if (own_slot_.forked()) {
    return;
  }
  try {
    const std::lock_guard guard{store_.mutex()};
    release_is_pending_ = true;
    release_if_pending();
  } catch (const LedgerError&) {
    // Either the claim stays until the mutex can be had, or the process ends, which harms nobody but those who wait for
    // it; or the place is lost, of which require_intact() or the next lease tells.
    release_is_pending_ = own_slot_.record().claim.stage == Stage::holding;
  }
}

/// Does what release() has to do, or could not do. Under the mutex.
void Ledger::release_if_pending() {
  if (std::exchange(release_is_pending_, false) && own_slot_.record().claim.stage == Stage::holding) {
    own_slot_.withdraw_request();
    or_lose_place([&] {
      own_slot_.write();
      records_.notify_concerned();
    });
  }
}

/// The write of the record that follows checks that the place is kept.
void Ledger::require_stage(Stage stage, const char* what) const {
  if (own_slot_.record().claim.stage == stage && !own_slot_.forked()) {
    return;
  }
  if (own_slot_.record().claim.stage != Stage::outside) {
    own_slot_.require_kept();
  }
  const std::string& who = own_slot_.record().who;
  throw LedgerError{(who.empty() ? "this process" : who) + " cannot " + what};
}

void Ledger::set_idle() {
  const std::lock_guard guard{store_.mutex()};
  release_if_pending();
  require_stage(Stage::inside, "be idle on the ledger: it has not entered, has a lease, or is idle");
  or_lose_place([&] {
    own_slot_.become_idle();
    records_.notify_concerned(); // whoever it keeps waiting may notify it from now on
  });
}

bool Ledger::resume() {
  std::unique_lock guard{store_.mutex()};
  require_stage(Stage::idle, "take work again: it is not idle on the ledger");
  if (const auto asked = own_slot_.asked_of_own_devices(); asked != 0 && !has_to_leave()) {
    guard.unlock();
    const auto seen = records_.observe(asked);
    guard.lock();
    if (own_slot_.is_in_the_way(seen)) {
      return false;
    }
  }
  if (has_to_leave()) {
    return false;
  }
  or_lose_place([&] { own_slot_.resume(); });
  return true;
}

bool Ledger::has_to_leave() const { return own_slot_.wake_fifo().is_notified(); }

int Ledger::leave_descriptor() const { return own_slot_.wake_fifo().number(); }

void Ledger::set_overhead(std::uint64_t bytes) {
  const std::lock_guard guard{store_.mutex()};
  Record& own = own_slot_.record();
  if (own_slot_.forked() || own.claim.stage == Stage::outside ||
      (bytes == own.claim.overhead_bytes && !overhead_is_unwritten_)) {
    return;
  }
  own.claim.overhead_bytes = bytes;
  overhead_is_unwritten_ = true;
  or_lose_place([&] {
    own_slot_.correct();
    records_.notify_concerned();
  });
  overhead_is_unwritten_ = false;
}

void Ledger::require_intact() const {
  if (own_slot_.record().claim.stage != Stage::outside && !own_slot_.forked()) {
    if (!could_not_notify_) {
      own_slot_.require_kept();
    }
    store_.require_intact();
  }
}

Blocked Ledger::unleased_memory(policy::DeviceMask devices) {
  Blocked found;
  for (int look = 0; look == 0 || (found.external_bytes > 0 && look < max_looks_for_external_memory); ++look) {
    const auto seen = records_.observe(devices);
    const std::lock_guard guard{store_.mutex()};
    const auto all = records_.read_named();
    found = {};
    explain_unleased_memory(found, all, all.size(), devices, seen);
  }
  return found;
}

std::vector<Record> Ledger::records() {
  const std::lock_guard guard{store_.mutex()};
  auto all = records_.read_named();
  for (auto& record : all) {
    record.alive = records_.lives(record.slot);
  }
  return all;
}

Ledger::Contents Ledger::contents() {
  auto contents = os::read_without_mutex([&] {
    Contents read;
    read.records = records_.read_named();
    for (auto& record : read.records) {
      record.alive = records_.lives(record.slot);
    }
    for (std::size_t i = 0; i < max_devices && !devices_.uuid(i).empty(); ++i) {
      read.uuids.push_back(devices_.uuid(i));
      read.overhead_bytes.push_back(devices_.measured_overhead(policy::DeviceMask{1} << i));
    }
    return read;
  });
  if (const auto keeper = store_.mutex().keeper(); !keeper.empty()) {
    contents.caveat =
        "the ledger's mutex is locked all the time, so that no test gets memory or gives it back: " + keeper;
  }
  return contents;
}

std::string Ledger::credential() const { return own_slot_.taken() ? credential_of(own_slot_.record()) : std::string{}; }

std::optional<Record> Ledger::holder_of(const std::string& credential) {
  if (credential.empty()) {
    return std::nullopt;
  }
  const std::lock_guard guard{store_.mutex()};
  for (const auto& record : records_.read_named()) {
    if (credential_of(record) == credential && records_.lives(record.slot)) {
      return record;
    }
  }
  return std::nullopt;
}

std::optional<Record> Ledger::holder_above() {
  auto holders = os::read_without_mutex([&] { return records_.read_named(); });
  holders.erase(std::remove_if(holders.begin(), holders.end(),
                               [](const Record& record) { return record.claim.stage != Stage::holding; }),
                holders.end());
  if (holders.empty()) {
    return std::nullopt;
  }
  const auto above = lease_above(os::ancestors(), holders, [&](const Record& holder) {
    return store_.is_own(holder.slot) && os::is_inherited(store_.liveness_fifo(holder.slot));
  });
  return above && records_.lives(above->slot) ? above : std::nullopt;
}

void Ledger::inherit_across_exec() { own_slot_.inherit_across_exec(); }

/// Whether the process may wait for this lease: it announced it when it entered, or could have done so, by what its
/// devices showed. A device that was not observed counts as one that has no room.
bool Ledger::announce(const LeaseRequest& request, const Observations& seen) {
  auto& claim = own_slot_.record().claim;
  if (request.exclusive) {
    return claim.whole_devices;
  }
  if (request.bytes > claim.largest_bytes) {
    auto all = records_.read();
    const std::size_t position = own_slot_.with_own(all);
    const auto snapshot = records_.snapshot(all, claim.devices, seen);
    const auto to_leave = policy::idle_to_evict_for(snapshot, position, request.bytes);
    if (!to_leave) {
      return false;
    }
    std::vector<Record> idle;
    for (const std::size_t leaving : *to_leave) {
      idle.push_back(all[leaving]);
    }
    or_lose_place([&] { records_.notify(idle); });
    // In the record before the mutex is unlocked: others enter by what it says.
    const std::uint64_t announced = std::exchange(claim.largest_bytes, request.bytes);
    try {
      own_slot_.correct();
    } catch (...) {
      claim.largest_bytes = announced;
      throw;
    }
  }
  return true;
}

} // namespace gputest::ledger
