// SPDX-License-Identifier: BSD-3-Clause
// How a gate asks the ledger for a lease, gives it back, and counts what is taken without one.
#include "core/session/gate.hpp"

#include "core/os/test_status_page.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"

#include <gputest/test_run.hpp>

#include <algorithm>
#include <utility>

namespace gputest::session {

namespace {

/// Nobody notifies a process that is not in the queue.
constexpr std::chrono::milliseconds look_for_room{100};

/// Whether a process waits for nobody, nor looks for room as this one does, having announced nothing.
bool goes_on(const ledger::Record& other) {
  const auto& claim = other.claim;
  return other.alive && (claim.stage == policy::Stage::holding ||
                         (claim.stage == policy::Stage::inside && (claim.largest_bytes > 0 || claim.whole_devices)));
}

/// Whether some of it is known to be still allocated.
bool leaves_memory(const devices::Usage& usage, const std::vector<devices::DeviceUsage>& left) {
  const auto leaves = [](const devices::DeviceUsage& device) { return left_of(device) > Bytes{}; };
  return std::any_of(usage.devices.begin(), usage.devices.end(), leaves) ||
         std::any_of(left.begin(), left.end(), leaves);
}

} // namespace

Outcome Gate::foresee_lease(const Request& request, const std::string& test) {
  if (auto lacking = place_.check(request, test); lacking.kind != Outcome::Kind::granted) {
    return lacking;
  }
  if (const auto& parent = place_.parent_lease()) {
    return parent->check(request);
  }
  const std::string who = messages_.full_name(test);
  const auto memory = policy::to_memory_request(request, place_.chosen().smallest);
  const auto& overhead = place_.overhead();
  // A request that can never be granted is refused, announced or not.
  const Bytes asked = memory.bytes + overhead.bytes();
  for (int gpu = 0; gpu < request.gpus; ++gpu) {
    const Bytes usable = place_.machine()->usable_bytes(place_.chosen().indices[static_cast<std::size_t>(gpu)]);
    if (asked > usable && memory.bytes + overhead.expected() <= usable) {
      return {Outcome::Kind::fail, no_room_in_process(who, to_string(request), overhead.bytes(), unleased_)};
    }
    if (asked > usable) {
      return messages_.never_fits(who, policy::Refusal{asked.count(), usable.count(), 1, 1});
    }
  }
  if (messages_.decide_large(request) == policy::LargeDecision::exclude) {
    return messages_.excluded(test);
  }
  return {};
}

Outcome Gate::ask_ledger(const Request& request, const std::string& test) {
  const bool may_wait = messages_.may_wait(request);
  if (auto outcome = place_.enter_if_deferred(may_wait); outcome.kind != Outcome::Kind::granted) {
    return outcome;
  }
  const auto memory = policy::to_memory_request(request, place_.chosen().smallest);
  const std::string who = messages_.full_name(test);
  bool printed = false;
  auto patience = messages_.patience(test, to_string(request), &printed);
  // A process announces only what each of its devices can hold. More than that it gets at once, or not at all.
  const Bytes smallest = place_.smallest_usable();
  const bool fits_each_device = memory.bytes + place_.overhead().bytes() <= smallest;
  patience.may_wait = patience.may_wait && may_wait && fits_each_device && !is_still_stuck();
  const auto begin = os::KernelClock::now();
  const auto devices = place_.mask_of(static_cast<std::size_t>(request.gpus));
  const auto result = lease_where_it_may_wait(
      {who, devices, memory.bytes.count(), memory.exclusive, memory.medium_lock, request.is_estimated()}, patience);
  using Kind = ledger::Result::Kind;
  const bool is_refused = result.kind == Kind::refused && result.blocked.own_excess_bytes > 0;
  const bool is_stuck = result.kind == Kind::stuck || (result.kind == Kind::would_wait && stuck_at_);
  if (is_refused || is_stuck || result.kind == Kind::unannounced) {
    run_again_alone(unleased_.empty() ? policy::StopCause::others : policy::StopCause::own_unleased);
  }
  if (is_refused) {
    return {Outcome::Kind::fail,
            no_room_in_process(who, to_string(request), Bytes{result.blocked.own_overhead_bytes}, unleased_)};
  }
  if (is_stuck) {
    stuck_at_ = stuck_at_.value_or(Bytes{result.blocked.own_overhead_bytes});
    return {Outcome::Kind::fail, no_room_beside_overheads(who, to_string(request), result.blocked, unleased_), true};
  }
  if (result.kind == Kind::would_wait && !fits_each_device) {
    return {Outcome::Kind::fail, beyond_smallest_device(who, to_string(request), smallest, result.blocked), true};
  }
  if (result.kind == Kind::unannounced && place_.began_early()) {
    return {Outcome::Kind::fail, not_announced(who, to_string(request), result.blocked, true)};
  }
  if (result.kind != Kind::granted) {
    return messages_.outcome_of(result, to_string(request), test);
  }
  const std::chrono::duration<double> waited = os::KernelClock::now() - begin;
  runlog::write(
      "lease",
      runlog::lease_details(request, memory.bytes, memory.whole_device(), place_.chosen().devices, waited.count()),
      test);
  if (printed || !is_announced_) {
    note(
        "admitted " + who + ": " + to_string(request) + " on " + describe(place_.chosen().devices) +
        (place_.machine()->devices().front().simulated ? " (simulated)" : "") +
        (printed ? ", after waiting " + short_duration(std::chrono::duration_cast<std::chrono::seconds>(waited)) : ""));
    is_announced_ = true;
  }
  return {};
}

/// A process that used devices before it could enter the ledger has announced nothing if there was no room. It must not
/// be in the queue: its context may be what those there wait for. While another process does not wait, it looks again
/// and again, outside of the queue, and takes what is free. It gives up when all others may wait for it.
ledger::Result Gate::lease_where_it_may_wait(const ledger::Ledger::LeaseRequest& request,
                                             const ledger::Patience& patience) {
  using Kind = ledger::Result::Kind;
  auto& ledger = place_.ledger();
  auto result = ledger.lease(request, patience);
  if (result.kind != Kind::unannounced || !place_.began_early()) {
    return result;
  }
  const os::PauseTimeLimit waits{patience.until - os::KernelClock::now()};
  auto at_once = patience;
  at_once.may_wait = false;
  auto as_long = patience;
  auto notice_at = os::KernelClock::now() + patience.notice_after;
  do {
    auto seen = ledger.lease(request, at_once);
    const auto& others = seen.blocked.blockers;
    const auto now = os::KernelClock::now();
    if (seen.kind == Kind::would_wait && now >= as_long.until) {
      seen.kind = Kind::timed_out;
    }
    if (seen.kind != Kind::would_wait) {
      return seen;
    }
    if (std::none_of(others.begin(), others.end(), goes_on)) {
      return result;
    }
    if (now >= notice_at) {
      patience.on_wait(seen.blocked);
      notice_at = patience.notice_every.count() > 0 ? now + patience.notice_every : os::KernelClock::time_point::max();
    }
    os::KernelClock::duration pause = look_for_room;
    const auto begin = os::KernelClock::now();
    static_cast<void>(os::KernelClock::poll(nullptr, 0, pause));
    const auto end = os::KernelClock::now();
    const auto stood_still = end - begin - look_for_room;
    if (stood_still >= os::KernelClock::late_if_stopped) {
      as_long.until += stood_still; // stopped, maybe with those for whom it waits
      os::PauseTimeLimit::extend(as_long.until - end);
    }
    result = ledger.lease(request, as_long);
  } while (result.kind == Kind::unannounced);
  return result;
}

/// For what processes take without a lease, such as in SetUpTestSuite(), they have not waited until there was room. If
/// nobody declares memory in this entry, that runs once more, alone, if nothing has failed.
void Gate::run_again_alone(policy::StopCause cause) {
  if (entry_.request.is_estimated() && place_.has_record()) {
    process_.synchronize_and_trim(); // else a client of MPS ends others with it
    gputest::detail::TestRun::of_process().run_again_alone({cause});
  }
}

/// Limits an estimate of earlier attempts and runs to the room that memory without a lease leaves on each device: the
/// lease grows, and if it cannot, the entry runs again.
Request Gate::beside_unleased(Request request) const {
  const Bytes room = std::max(place_.smallest_usable() - place_.overhead().bytes(), granularity_of_drivers);
  if (request.is_estimated() && policy::to_memory_request(request, place_.chosen().smallest).bytes > room) {
    request.bytes = room;
  }
  return request;
}

/// What a lease has of each of its devices. What this process has beyond its context is not known yet.
std::vector<Bytes> Gate::bytes_of(const Request& request) const {
  const auto memory = policy::to_memory_request(request, place_.chosen().smallest);
  std::vector<Bytes> bytes;
  for (const std::size_t index : place_.chosen().indices) {
    if (bytes.size() < static_cast<std::size_t>(request.gpus)) {
      const auto& machine = *place_.machine();
      const Bytes own = place_.overhead().bytes() + Bytes{machine.set_aside_bytes(index)};
      bytes.push_back(!memory.whole_device() ? memory.bytes
                      : place_.has_record()  ? machine.devices()[index].total - (Bytes{machine.used_bytes(index)} - own)
                                             : machine.devices()[index].total);
    }
  }
  return bytes;
}

/// Whether a lease could not be had before because of what this process has without one, which it still has. It then
/// never waits again, so that the others can go on when it ends.
bool Gate::is_still_stuck() {
  if (stuck_at_) {
    place_.measure_overhead(process_.synchronize_and_trim(), place_.overhead().managed(), now_(), unleased_.empty());
    if (place_.overhead().bytes() < *stuck_at_) {
      stuck_at_.reset();
    }
  }
  return stuck_at_.has_value();
}

EntryMeasurements Gate::measurements(std::optional<Bytes> peak) const {
  std::string uuids;
  for (std::size_t i = 0; i < held_.bytes.size(); ++i) {
    uuids += (i == 0 ? "" : " ") + place_.chosen().devices[i].uuid;
  }
  return {peak, held_.bytes.empty() ? Bytes{} : held_.bytes.front(), uuids};
}

/// Sets `error` to the sticky CUDA error that the test has left.
std::optional<Measured> Gate::give_back(const Closing& memory, std::string& error) noexcept {
  auto after_sync = process_.synchronize_and_trim();
  auto usage = measuring_.end_leased_period();
  const bool is_own = place_.has_record();
  if (is_own) {
    has_left_ = has_left_ || leaves_memory(usage, memory.left);
    if (place_.overhead().is_due(after_sync, memory.managed, now_())) {
      place_.measure_overhead(after_sync, memory.managed, now_(), !has_left_ && unleased_.empty());
    }
  }
  auto measured = measuring_.judge(std::move(usage), memory.left);
  if (is_own) {
    place_.ledger().release();
    log_release(measured ? measured->usage : devices::Usage{}, measured);
  }
  measuring_.begin_unleased_period();
  error = std::move(after_sync.error);
  return measured;
}

void Gate::log_release(const devices::Usage& usage, const std::optional<Measured>& measured) const noexcept {
  const std::chrono::duration<double> held = os::KernelClock::now() - held_.since;
  const auto& devices = place_.chosen().devices;
  const auto gpus = static_cast<std::size_t>(held_.request.gpus);
  std::vector<runlog::Event> events{{"release", runlog::release_details(held.count(), usage, devices, gpus)}};
  if (measured && usage.evidence != devices::Evidence::unknown) {
    const auto& allowance = measuring_.allowance();
    const auto allowed = allowance.whole_devices ? std::nullopt : std::optional{allowance.leased.front()};
    events.push_back({"need", runlog::need_details({measured->peak, usage.evidence, devices.front(), allowed,
                                                    held_.request.memory_by, possible_in(usage, devices.front().total),
                                                    advice_notation() == detail::Notation::marks})});
  }
  runlog::write(events, held_.test);
}

/// Returns the sticky CUDA error, if there is one, else an empty text.
std::string Gate::find_unleased(const std::string& where) {
  const bool is_watched = measuring_.check_unleased_use(); // which says it of the test
  if (!place_.has_devices() || !process_.in_use()) {
    return {};
  }
  const auto after_sync = process_.synchronize_and_trim();
  const auto& overhead = place_.overhead();
  const Bytes managed = overhead.managed();
  if (!after_sync.error.empty() || place_.parent_lease() ||
      (unleased_.empty() && !overhead.is_due(after_sync, managed, now_()))) {
    return after_sync.error;
  }
  const Bytes before = overhead.bytes();
  place_.measure_overhead(after_sync, managed, now_(), false); // what was taken without a lease is not the context's
  const Bytes now = overhead.bytes();
  if (now > before + policy::to_memory_request(MemoryClass::small, place_.chosen().smallest).bytes) {
    unleased_ = where + " took " + to_string(now - before);
    if (!is_watched) {
      tell(took_without_lease(where, now - before));
    }
  } else if (now < before) {
    unleased_.clear();
  }
  return {};
}

} // namespace gputest::session
