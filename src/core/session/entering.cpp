// SPDX-License-Identifier: BSD-3-Clause
// The start of a session: it chooses and pins devices, and enters the ledger.
#include "core/session/device_session.hpp"

#include "core/ledger/device_probe.hpp"
#include "core/ledger/storage/ledger_folder.hpp"
#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/policy/request.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"
#include "core/settings/settings.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <chrono>
#include <functional>

namespace gputest::session {

namespace {

void add(std::string& texts, const std::string& text) { texts += (texts.empty() || text.empty() ? "" : "; ") + text; }

} // namespace

Outcome DeviceSession::no_gpu(const std::string& why) {
  entered_ = answers_.skip("no GPU: " + why + ". " + simulated_instead, SkipCause::no_gpu);
  if (entered_.kind == Outcome::Kind::skip) {
    entered_.reason +=
        ". On a machine that is meant to run its tests, GPUTEST_FORBID_SKIP=machine makes this skip a failure";
  }
  return entered_;
}

Outcome DeviceSession::enter(const Plan& plan) {
  Bytes heap;
  for (const auto& request : plan.requests) {
    heap = std::max(heap, request.heap);
  }
  heap_.expect(heap);
  answers_.set_filter_option(plan.filter_option);
  std::string why_none;
  machine_ = devices::open_devices(settings_, why_none);
  if (machine_->devices().empty()) {
    return no_gpu(why_none);
  }
  auto allowed = allowed_devices(*machine_, settings_);
  if (allowed.indices.empty()) {
    return no_gpu(allowed.restriction + " allows none of the " + std::to_string(machine_->devices().size()) +
                  " of this machine");
  }
  contexts_.emplace(machine_, *process_);
  capable_.emplace(machine_);
  why_no_more_ = machine_->left_out();
  add(why_no_more_, allowed.note);
  std::string unusable;
  allowed.indices = capable_->usable(allowed.indices, unusable);
  add(why_no_more_, unusable);
  if (allowed.indices.empty()) {
    return no_gpu(why_no_more_);
  }
  ledger_.emplace(os::ledger_folder(settings_.folder, settings_.devices), ledger::make_probe(machine_));
  parent_lease_ = ParentLease::find(settings_, *ledger_, *machine_);
  return entered_ = parent_lease_ ? run_under(*parent_lease_, allowed) : enter_ledger(plan, allowed);
}

Outcome DeviceSession::run_under(const ParentLease& parent_lease, const AllowedDevices& allowed) {
  const auto own = parent_lease.devices_among(allowed.indices);
  if (own.empty()) {
    return parent_lease.nothing_left(allowed.restriction);
  }
  fit_entry();
  limit_to_smallest_of(own);
  for (const std::size_t index : own) {
    take(index);
  }
  pin();
  log_enter(0);
  return {};
}

void DeviceSession::log_enter(double waited) const {
  std::vector<std::uint64_t> usable;
  for (const std::size_t index : indices_) {
    usable.push_back(machine_->usable_bytes(index).count());
  }
  runlog::write("enter",
                runlog::enter_details({devices_, std::move(usable), overhead_.bytes(), waited,
                                       parent_lease_.has_value(), os::is_worker(), os::why_worker_was_started()}));
}

Outcome DeviceSession::enter_ledger(const Plan& plan, const AllowedDevices& allowed) {
  answers_.set_rank(settings_.rank);
  const std::string who = answers_.full_name("");
  if (settings_.device_memory) {
    tell("every decision is as on devices of at most " + to_string(*settings_.device_memory) +
         " (GPUTEST_DEVICE_MEMORY)");
  }
  const auto& of_all = entry_.request.capabilities;
  Choice choice;
  if (contexts_->begun_before()) {
    const auto kinds = kinds_of(*machine_, allowed.visible);
    choice = already_chosen(policy::shown_by_cuda(kinds, allowed.visible), *contexts_, gpus_of(plan));
    numbered_as_in_cuda_ = choice.first_seen;
  } else {
    const auto kinds = kinds_of(*machine_, allowed.indices);
    choice = choose(allowed.indices, kinds, gpus_of(plan), of_all | plan.capabilities, *capable_, *ledger_);
    add(why_no_more_, why_fewer(kinds, gpus_of(plan)));
  }
  const auto& possible = contexts_->begun_before() ? choice.candidates : allowed.indices;
  if (capable_->capable(of_all, possible, *ledger_).empty()) {
    return answers_.skip(not_capable(who, capable_->why_not(of_all, possible, *ledger_)), SkipCause::machine);
  }
  limit_to_smallest_of(possible);
  // Once it is used, the heap exists as long as the context does, so it counts as overhead.
  overhead_.expect(usual_context(choice, *machine_, ledger_->devices()),
                   learnt_context(choice, *machine_, ledger_->devices()), heap_.cost());
  Bytes overhead = overhead_.bytes();
  if (choice.present) {
    for (const std::size_t index : choice.candidates) {
      overhead = std::max(overhead, contexts_->used(index));
    }
  }
  fit_entry();
  Plan fitting = plan;
  for (auto& asked : fitting.requests) {
    asked = policy::fitted(asked, largest_for_a_test());
  }
  auto request = enter_request(choice, fitting, overhead, smallest_, entry_.large, *machine_, ledger_->devices());
  request.who = who;

  if (!choice.present && none_can_run(fitting, choice)) {
    for (const std::size_t index : largest_of(choice, *machine_)) {
      take(index);
    }
    pin();
    request.candidates = mask_of(bits_.size());
    late_ = std::move(request);
    return {};
  }
  auto outcome = take_place(request, choice.candidates);
  if (outcome.kind == Outcome::Kind::granted && contexts_->begun_before()) {
    tell(began_too_early(devices_));
  }
  return outcome;
}

/// Whether each test of the plan is going to be skipped, whatever others hold: then there is nothing to wait for.
bool DeviceSession::none_can_run(const Plan& plan, const Choice& choice) {
  const auto cannot_run = [&](const Request& asked) {
    const auto gpus = static_cast<std::size_t>(asked.gpus);
    if (gpus > choice.gpus || decide_large(asked) == policy::LargeDecision::exclude) {
      return true;
    }
    const auto capable = capable_->capable(asked.capabilities, choice.candidates, *ledger_);
    return policy::to_memory_request(asked, smallest_).bytes + overhead_.bytes() >
           usable_of_each(capable, gpus, *machine_);
  };
  return !plan.open_ended && !plan.requests.empty() &&
         std::all_of(plan.requests.begin(), plan.requests.end(), cannot_run);
}

/// Enters the ledger. Blocks until there is room on the devices that the process has, or on some that it may choose.
Outcome DeviceSession::take_place(const ledger::Ledger::EnterRequest& request,
                                  const std::vector<std::size_t>& candidates) {
  bool told = false;
  const auto begin = std::chrono::steady_clock::now();
  const auto most = settings_.processes_per_device;
  const std::string place = most == 0
                                ? "a place on a GPU"
                                : "one of " + std::to_string(most) + " places on a GPU (GPUTEST_PROCESSES_PER_DEVICE)";
  const auto result = ledger_->enter(request, answers_.patience("", place, &told));
  if (result.kind != ledger::Result::Kind::granted) {
    return answers_.outcome_of(result, place, "");
  }
  if (devices_.empty()) {
    for (const std::size_t index : candidates) {
      if ((result.devices & ledger_->devices().bit_of(machine_->devices()[index].uuid)) != 0) {
        take(index);
      }
    }
    pin();
  }
  os::set_variable("GPUTEST_LEASE_OF", ledger_->credential());
  const auto waited = std::chrono::steady_clock::now() - begin;
  log_enter(std::chrono::duration<double>{waited}.count());
  if (told) {
    tell(request.who + " goes on, on " + describe(devices_) + ", after waiting " +
         short_duration(std::chrono::duration_cast<std::chrono::seconds>(waited)));
  }
  return {};
}

/// The first `gpus` of this process's devices.
policy::DeviceMask DeviceSession::mask_of(std::size_t gpus) const {
  policy::DeviceMask mask = 0;
  for (std::size_t i = 0; i < gpus; ++i) {
    mask |= bits_[i];
  }
  return mask;
}

/// Makes it one of this process's devices.
void DeviceSession::take(std::size_t index) {
  const Device& device = machine_->devices()[index];
  devices_.push_back(device);
  indices_.push_back(index);
  bits_.push_back(ledger_->devices().bit_of(device.uuid));
}

/// Makes only this process's devices visible to CUDA, if CUDA has not started yet, and to the processes that it starts.
void DeviceSession::pin() const {
  std::string visible;
  for (const auto& device : devices_) {
    visible += (visible.empty() ? "" : ",") + device.uuid;
  }
  os::set_variable("CUDA_VISIBLE_DEVICES", visible);
}

void DeviceSession::limit_to_smallest_of(const std::vector<std::size_t>& indices) {
  smallest_ = machine_->devices()[indices.front()].total;
  for (const std::size_t index : indices) {
    smallest_ = std::min(smallest_, machine_->devices()[index].total);
  }
}

} // namespace gputest::session
