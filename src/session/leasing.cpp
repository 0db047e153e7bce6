// How a session leases for its tests.
#include "session/session.hpp"

#include "policy/large_policy.hpp"
#include "session/messages.hpp"
#include "session/observed_run_mode.hpp"
#include "session/reasons.hpp"

#include <numeric>

namespace gputest::session {

using std::chrono::steady_clock;

Outcome Session::check_devices(const Requirement& requirement, const std::string& test) {
  if (entered_.kind != Outcome::Kind::granted) {
    return entered_;
  }
  const std::string who = answers_.full_name(test);
  if (static_cast<std::size_t>(requirement.gpus) > devices_.size()) {
    return answers_.skip(who + " needs " + std::to_string(requirement.gpus) + " GPUs and may use " +
                             std::to_string(devices_.size()) + " (" + describe(devices_) + ")" +
                             (why_no_more_.empty() ? "" : "; " + why_no_more_),
                         true);
  }
  const auto first = indices_.begin();
  if (const auto why = capable_->why_not(requirement.capabilities, {first, first + requirement.gpus}, *ledger_);
      !why.empty()) {
    return answers_.skip(not_capable(who, why));
  }
  return {};
}

Outcome Session::acquire(const Requirement& requirement, const std::string& test) {
  if (auto lacking = check_devices(requirement, test); lacking.kind != Outcome::Kind::granted) {
    return lacking;
  }
  if (cover_) {
    return cover_->check(requirement);
  }
  const std::string who = answers_.full_name(test);
  const auto memory = policy::to_memory_request(requirement, smallest_);
  // Whether it was announced does not matter for what can never be had.
  const Bytes asked = memory.bytes + Bytes{least_overhead_};
  for (auto device = devices_.begin(); device != devices_.begin() + requirement.gpus; ++device) {
    if (asked > device->total) {
      return answers_.never_fits(who, policy::Refusal{asked.count(), device->total.count(), 1, 1});
    }
  }
  const bool large = requirement.memory_class == MemoryClass::large;
  const bool large_entry = settings_.requirement.memory_class == MemoryClass::large;
  auto decision = policy::LargeDecision::wait;
  if (large || large_entry) {
    if (!run_mode_) {
      run_mode_ = observed_run_mode(settings_.run_mode);
    }
    decision = policy::decide_large(settings_.large, run_mode_->mode);
    if (decision == policy::LargeDecision::exclude) {
      return answers_.skip(excluded_in_parallel(who, run_mode_->because, answers_.command_for(test)));
    }
  }
  return lease(requirement, memory, test, !large || decision == policy::LargeDecision::wait);
}

Outcome Session::lease(const Requirement& requirement, const policy::MemoryRequest& memory, const std::string& test,
                       bool may_wait) {
  const std::string who = answers_.full_name(test);
  bool told = false;
  auto patience = answers_.patience(who, to_string(requirement), &told);
  patience.may_wait = patience.may_wait && may_wait;
  const auto begin = steady_clock::now();
  const auto devices =
      std::accumulate(bits_.begin(), bits_.begin() + requirement.gpus, policy::DeviceMask{0}, std::bit_or<>{});
  const auto result = ledger_->lease({who, devices, memory.bytes.count(), memory.exclusive, memory.seat}, patience);
  if (result.kind != ledger::Result::Kind::granted) {
    return answers_.outcome_of(result, to_string(requirement), test);
  }
  holds_ = true;
  if (told || !admitted_) {
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - begin);
    tell("admitted " + who + ": " + to_string(requirement) + " on " + describe(devices_) +
         (machine_->devices().front().simulated ? " (simulated)" : "") +
         (told ? ", after waiting " + short_duration(waited) : ""));
    admitted_ = true;
  }
  return {};
}

Outcome Session::prepare_heap(const Requirement& requirement, const std::string& test) {
  const std::string who = answers_.full_name(test);
  const std::string problem =
      numbered_as_in_cuda_ || requirement.heap == Bytes{}
          ? heap_.prepare(requirement.heap, devices_, requirement.gpus, who)
          : who + " asks for a device heap, and CUDA was initialised before gputest could choose a device, with a "
                  "context on another one than the first; start it by the launcher: LAUNCHER on, or gputest run";
  if (problem.empty()) {
    return {};
  }
  release();
  return {Outcome::Kind::fail, problem};
}

std::vector<Bytes> Session::bytes_of(const Requirement& requirement) const {
  const auto memory = policy::to_memory_request(requirement, smallest_);
  std::vector<Bytes> bytes;
  for (const auto& device : devices_) {
    if (bytes.size() < static_cast<std::size_t>(requirement.gpus)) {
      bytes.push_back(memory.exclusive ? device.total : memory.bytes);
    }
  }
  return bytes;
}

} // namespace gputest::session
