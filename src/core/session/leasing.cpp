// SPDX-License-Identifier: BSD-3-Clause
// How a session leases for its tests.
#include "core/session/device_session.hpp"

#include "core/os/ctest_process.hpp"
#include "core/policy/run_mode.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"

#include <algorithm>

namespace gputest::session {

using std::chrono::steady_clock;

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

Outcome DeviceSession::check_devices(const Request& request, const std::string& test) {
  if (entered_.kind != Outcome::Kind::granted) {
    return entered_;
  }
  const std::string who = answers_.full_name(test);
  if (static_cast<std::size_t>(request.gpus) > devices_.size()) {
    if (parent_lease_) {
      return parent_lease_->too_few_devices(request);
    }
    return answers_.skip(too_few_gpus(who, request.gpus, devices_, why_no_more_), SkipCause::no_gpu);
  }
  const auto first = indices_.begin();
  if (const auto why = capable_->why_not(request.capabilities, {first, first + request.gpus}, *ledger_); !why.empty()) {
    return answers_.skip(not_capable(who, why), SkipCause::machine);
  }
  return {};
}

Outcome DeviceSession::foresee(const Request& request, const std::string& test) {
  if (auto lacking = check_devices(request, test); lacking.kind != Outcome::Kind::granted) {
    return lacking;
  }
  if (parent_lease_) {
    return parent_lease_->check(request);
  }
  const std::string who = answers_.full_name(test);
  const auto memory = policy::to_memory_request(request, smallest_);
  // A request that can never be granted is refused, announced or not.
  const Bytes asked = memory.bytes + overhead_.bytes();
  for (auto index = indices_.begin(); index != indices_.begin() + request.gpus; ++index) {
    const Bytes usable = machine_->usable_bytes(*index);
    if (asked > usable && memory.bytes + overhead_.expected() <= usable) {
      return {Outcome::Kind::fail, no_room_in_process(who, to_string(request), overhead_.bytes(), unleased_)};
    }
    if (asked > usable) {
      return answers_.never_fits(who, policy::Refusal{asked.count(), usable.count(), 1, 1});
    }
  }
  if (decide_large(request) == policy::LargeDecision::exclude) {
    return answers_.skip(excluded_in_parallel(who, run_mode_->because, answers_.command_for(test)), SkipCause::run);
  }
  return {};
}

/// What becomes of a large test, or of a test in a large entry; any other waits.
policy::LargeDecision DeviceSession::decide_large(const Request& request) {
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

Outcome DeviceSession::acquire(const Request& request, const std::string& test) {
  if (auto outcome = foresee(request, test); outcome.kind != Outcome::Kind::granted || parent_lease_) {
    if (outcome.kind == Outcome::Kind::granted) {
      begin_measuring(request, test);
    }
    return outcome;
  }
  const bool large = request.memory_class == MemoryClass::large;
  auto outcome = lease(request, policy::to_memory_request(request, smallest_), test,
                       !large || decide_large(request) == policy::LargeDecision::wait);
  if (outcome.kind == Outcome::Kind::granted) {
    begin_measuring(request, test);
  }
  return outcome;
}

Outcome DeviceSession::lease(const Request& request, const policy::MemoryRequest& memory, const std::string& test,
                             bool may_wait) {
  if (late_) {
    if (auto outcome = take_place(*late_, indices_); outcome.kind != Outcome::Kind::granted) {
      return outcome;
    }
    late_.reset();
  }
  const std::string who = answers_.full_name(test);
  bool told = false;
  auto patience = answers_.patience(test, to_string(request), &told);
  // A process announces only what each of its devices can hold. More than that it gets at once, or not at all.
  const auto smallest = std::min_element(indices_.begin(), indices_.end(), [&](std::size_t a, std::size_t b) {
    return machine_->usable_bytes(a) < machine_->usable_bytes(b);
  });
  const bool on_each = memory.bytes + overhead_.bytes() <= machine_->usable_bytes(*smallest);
  patience.may_wait = patience.may_wait && may_wait && on_each && !is_still_stuck();
  const auto begin = steady_clock::now();
  const auto devices = mask_of(static_cast<std::size_t>(request.gpus));
  const auto result =
      ledger_->lease({who, devices, memory.bytes.count(), memory.exclusive, memory.medium_lock}, patience);
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
            beyond_smallest_device(who, to_string(request), machine_->usable_bytes(*smallest), result.blocked), true};
  }
  if (result.kind != Kind::granted) {
    return answers_.outcome_of(result, to_string(request), test);
  }
  holds_ = true;
  leased_at_ = steady_clock::now();
  leased_gpus_ = static_cast<std::size_t>(request.gpus);
  of_others_.clear();
  for (auto index = indices_.begin(); memory.whole_device() && index != indices_.begin() + request.gpus; ++index) {
    const std::uint64_t used =
        machine_->used_bytes(*index); // what this process has beyond its context is not known yet
    of_others_.emplace_back(used - std::min(used, overhead_.bytes().count() + machine_->set_aside_bytes(*index)));
  }
  leased_test_ = test;
  runlog::write("lease",
                runlog::lease_details(request, memory.bytes, memory.whole_device(), devices_,
                                      std::chrono::duration<double>{leased_at_ - begin}.count()),
                test);
  if (told || !admitted_) {
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - begin);
    tell("admitted " + who + ": " + to_string(request) + " on " + describe(devices_) +
         (machine_->devices().front().simulated ? " (simulated)" : "") +
         (told ? ", after waiting " + short_duration(waited) : ""));
    admitted_ = true;
  }
  return {};
}

/// Whether a lease could not be had before because of what this process has without one, which it still has. It then
/// never waits again, so that the others can go on when it ends.
bool DeviceSession::is_still_stuck() {
  if (stuck_at_) {
    measure_overhead(process_->synchronize_and_trim(), overhead_.managed());
    if (overhead_.bytes() < *stuck_at_) {
      stuck_at_.reset();
    }
  }
  return stuck_at_.has_value();
}

Outcome DeviceSession::prepare_heap(const Request& request, const std::string& test) {
  const std::string who = answers_.full_name(test);
  const std::string problem =
      numbered_as_in_cuda_ || request.heap == Bytes{}
          ? heap_.prepare(request.heap, devices_, request.gpus, who)
          : who + " asks for a device heap, and CUDA was initialised before gputest could choose a device, with a "
                  "context on another one than the first; start it by the launcher: LAUNCHER on, or gputest run";
  if (problem.empty()) {
    return {};
  }
  release();
  return {Outcome::Kind::fail, problem};
}

std::vector<Bytes> DeviceSession::bytes_of(const Request& request) const {
  const auto memory = policy::to_memory_request(request, smallest_);
  std::vector<Bytes> bytes;
  for (const auto& device : devices_) {
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
    limits[i] = devices_[i].total;
  }
  return limits;
}

Bytes DeviceSession::largest_for_a_test() const {
  if (parent_lease_) { // which limits its tests
    return {};
  }
  Bytes largest;
  for (std::size_t index = 0; machine_ && index < machine_->devices().size(); ++index) {
    largest = std::max(largest, machine_->usable_bytes(index) - overhead_.bytes());
  }
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  return Bytes{largest.count() / mebibyte * mebibyte};
}

} // namespace gputest::session
