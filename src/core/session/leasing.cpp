// SPDX-License-Identifier: BSD-3-Clause
// How a session leases for its tests.
#include "core/session/device_session.hpp"

#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"

#include <algorithm>

namespace gputest::session {

using std::chrono::steady_clock;

Outcome DeviceSession::foresee(const Request& request, const std::string& test) {
  if (auto lacking = place_.check(request, test); lacking.kind != Outcome::Kind::granted) {
    return lacking;
  }
  if (place_.parent_lease()) {
    return place_.parent_lease()->check(request);
  }
  const std::string who = answers_.full_name(test);
  const auto memory = policy::to_memory_request(request, place_.chosen().smallest);
  // A request that can never be granted is refused, announced or not.
  const Bytes asked = memory.bytes + place_.overhead().bytes();
  for (auto index = place_.chosen().indices.begin(); index != place_.chosen().indices.begin() + request.gpus; ++index) {
    const Bytes usable = place_.machine()->usable_bytes(*index);
    if (asked > usable && memory.bytes + place_.overhead().expected() <= usable) {
      return {Outcome::Kind::fail, no_room_in_process(who, to_string(request), place_.overhead().bytes(), unleased_)};
    }
    if (asked > usable) {
      return answers_.never_fits(who, policy::Refusal{asked.count(), usable.count(), 1, 1});
    }
  }
  if (answers_.decide_large(request) == policy::LargeDecision::exclude) {
    return answers_.excluded(test);
  }
  return {};
}

Outcome DeviceSession::acquire(const Request& request, const std::string& test) {
  if (auto outcome = foresee(request, test); outcome.kind != Outcome::Kind::granted || place_.parent_lease()) {
    if (outcome.kind == Outcome::Kind::granted) {
      begin_measuring(request, test);
    }
    return outcome;
  }
  const bool large = request.memory_class == MemoryClass::large;
  auto outcome = lease(request, policy::to_memory_request(request, place_.chosen().smallest), test,
                       !large || answers_.decide_large(request) == policy::LargeDecision::wait);
  if (outcome.kind == Outcome::Kind::granted) {
    begin_measuring(request, test);
  }
  return outcome;
}

Outcome DeviceSession::lease(const Request& request, const policy::MemoryRequest& memory, const std::string& test,
                             bool may_wait) {
  if (auto outcome = place_.enter_if_deferred(); outcome.kind != Outcome::Kind::granted) {
    return outcome;
  }
  const std::string who = answers_.full_name(test);
  bool told = false;
  auto patience = answers_.patience(test, to_string(request), &told);
  // A process announces only what each of its devices can hold. More than that it gets at once, or not at all.
  const auto smallest = std::min_element(place_.chosen().indices.begin(), place_.chosen().indices.end(),
                                         [&](std::size_t a, std::size_t b) {
                                           return place_.machine()->usable_bytes(a) < place_.machine()->usable_bytes(b);
                                         });
  const bool on_each = memory.bytes + place_.overhead().bytes() <= place_.machine()->usable_bytes(*smallest);
  patience.may_wait = patience.may_wait && may_wait && on_each && !is_still_stuck();
  const auto begin = steady_clock::now();
  const auto devices = place_.mask_of(static_cast<std::size_t>(request.gpus));
  const auto result =
      place_.ledger().lease({who, devices, memory.bytes.count(), memory.exclusive, memory.medium_lock}, patience);
  using Kind = ledger::Result::Kind;
  const bool refused_for_excess = result.kind == Kind::refused && result.blocked.own_excess_bytes > 0;
  if (refused_for_excess) {
    return {Outcome::Kind::fail,
            no_room_in_process(who, to_string(request), Bytes{result.blocked.own_overhead_bytes}, unleased_)};
  }
  if (result.kind == Kind::stuck || (result.kind == Kind::would_wait && stuck_at_)) {
    stuck_at_ = stuck_at_.value_or(Bytes{result.blocked.own_overhead_bytes});
    return {Outcome::Kind::fail, no_room_beside_overheads(who, to_string(request), result.blocked, unleased_), true};
  }
  if (result.kind == Kind::would_wait && !on_each) {
    return {Outcome::Kind::fail,
            beyond_smallest_device(who, to_string(request), place_.machine()->usable_bytes(*smallest), result.blocked),
            true};
  }
  if (result.kind != Kind::granted) {
    return answers_.outcome_of(result, to_string(request), test);
  }
  holds_ = true;
  leased_at_ = steady_clock::now();
  leased_gpus_ = static_cast<std::size_t>(request.gpus);
  of_others_.clear();
  for (auto index = place_.chosen().indices.begin();
       memory.whole_device() && index != place_.chosen().indices.begin() + request.gpus; ++index) {
    const std::uint64_t used =
        place_.machine()->used_bytes(*index); // what this process has beyond its context is not known yet
    of_others_.emplace_back(
        used - std::min(used, place_.overhead().bytes().count() + place_.machine()->set_aside_bytes(*index)));
  }
  leased_test_ = test;
  runlog::write("lease",
                runlog::lease_details(request, memory.bytes, memory.whole_device(), place_.chosen().devices,
                                      std::chrono::duration<double>{leased_at_ - begin}.count()),
                test);
  if (told || !admitted_) {
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - begin);
    tell("admitted " + who + ": " + to_string(request) + " on " + describe(place_.chosen().devices) +
         (place_.machine()->devices().front().simulated ? " (simulated)" : "") +
         (told ? ", after waiting " + short_duration(waited) : ""));
    admitted_ = true;
  }
  return {};
}

/// Whether a lease could not be had before because of what this process has without one, which it still has. It then
/// never waits again, so that the others can go on when it ends.
bool DeviceSession::is_still_stuck() {
  if (stuck_at_) {
    place_.measure_overhead(process_->synchronize_and_trim(), place_.overhead().managed(), now_(), unleased_.empty());
    if (place_.overhead().bytes() < *stuck_at_) {
      stuck_at_.reset();
    }
  }
  return stuck_at_.has_value();
}

Outcome DeviceSession::prepare_heap(const Request& request, const std::string& test) {
  const auto problem = place_.prepare_heap(request, answers_.full_name(test));
  if (problem.empty()) {
    return {};
  }
  release();
  return {Outcome::Kind::fail, problem};
}

std::vector<Bytes> DeviceSession::bytes_of(const Request& request) const {
  const auto memory = policy::to_memory_request(request, place_.chosen().smallest);
  std::vector<Bytes> bytes;
  for (const auto& device : place_.chosen().devices) {
    if (bytes.size() < static_cast<std::size_t>(request.gpus)) {
      bytes.push_back(memory.whole_device()
                          ? device.total - (bytes.size() < of_others_.size() ? of_others_[bytes.size()] : Bytes{})
                          : memory.bytes);
    }
  }
  return bytes;
}

std::vector<Bytes> DeviceSession::limits_of(const Request& request) const {
  auto limits = bytes_of(request);
  for (std::size_t i = 0; request.is_estimated() && i < limits.size(); ++i) {
    limits[i] = place_.chosen().devices[i].total;
  }
  return limits;
}

} // namespace gputest::session
