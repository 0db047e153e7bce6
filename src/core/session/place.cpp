// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/place.hpp"

#include "core/ledger/device_probe.hpp"
#include "core/ledger/storage/ledger_folder.hpp"
#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/kernel_clock.hpp"
#include "core/os/process.hpp"
#include "core/policy/request.hpp"
#include "core/runlog/event_details.hpp"
#include "core/runlog/run_log.hpp"
#include "core/session/messages.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <chrono>

namespace gputest::session {

Outcome Place::no_gpu(const std::string& why) {
  entered_ = messages_.skip("no GPU: " + why + ". " + simulated_instead, SkipCause::no_gpu);
  if (entered_.kind == Outcome::Kind::skip) {
    entered_.reason +=
        ". On a machine that is meant to run its tests, GPUTEST_FORBID_SKIP=machine makes this skip a failure";
  }
  return entered_;
}

Outcome Place::enter(const Plan& plan, Entry& entry) {
  Bytes heap;
  for (const auto& request : plan.requests) {
    heap = std::max(heap, request.heap);
  }
  heap_.expect(heap);
  messages_.set_filter_option(plan.filter_option);
  std::string why_none;
  os::make_room_out_of_the_way(); // before NVML starts a thread
  machine_ = devices::open_devices(settings_, why_none);
  if (machine_->devices().empty()) {
    return no_gpu(why_none);
  }
  auto allowed = allowed_devices(*machine_, settings_);
  if (allowed.indices.empty()) {
    return no_gpu(allowed.restriction + " allows none of the " + std::to_string(machine_->devices().size()) +
                  " of this machine");
  }
  counted_ = allowed.counted;
  contexts_.emplace(machine_, process_);
  chosen_.why_no_more = machine_->left_out();
  chosen_.add_why_no_more(allowed.note);
  std::string unusable;
  allowed.indices = usable(allowed.indices, unusable);
  chosen_.add_why_no_more(unusable);
  if (allowed.indices.empty()) {
    return no_gpu(chosen_.why_no_more);
  }
  ledger_.emplace(os::ledger_folder(settings_.folder, settings_.devices), ledger::make_probe(machine_));
  parent_lease_ = ParentLease::find(settings_, *ledger_, *machine_);
  return entered_ = parent_lease_ ? run_under(*parent_lease_, allowed, entry) : enter_ledger(plan, allowed, entry);
}

Outcome Place::run_under(const ParentLease& parent_lease, const AllowedDevices& allowed, Entry& entry) {
  const auto own = parent_lease.devices_among(allowed.indices);
  if (own.empty()) {
    return parent_lease.nothing_left(allowed.restriction);
  }
  fit(entry);
  limit_to_smallest_of(own);
  pin(own);
  log_enter(0);
  return {};
}

void Place::log_enter(double waited) const {
  std::vector<std::uint64_t> usable;
  for (const std::size_t index : chosen_.indices) {
    usable.push_back(machine_->usable_bytes(index).count());
  }
  runlog::write("enter",
                runlog::enter_details({chosen_.devices, std::move(usable), overhead_.bytes(), waited,
                                       parent_lease_.has_value(), os::is_worker(), os::why_worker_was_started()}));
}

Outcome Place::enter_ledger(const Plan& plan, const AllowedDevices& allowed, Entry& entry) {
  messages_.set_rank(settings_.rank);
  const std::string who = messages_.full_name("");
  if (settings_.device_memory) {
    note("every decision is as on devices of at most " + to_string(*settings_.device_memory) +
         " (GPUTEST_DEVICE_MEMORY)");
  }
  const auto& of_all = entry.request.capabilities;
  auto choice = choose(plan, allowed, of_all | plan.capabilities);
  const auto& possible = choice.present ? choice.candidates : allowed.indices;
  if (capable(of_all, possible).empty()) {
    return messages_.skip(not_capable(who, why_not_capable(of_all, possible)), SkipCause::machine);
  }
  limit_to_smallest_of(possible);
  expect_overhead(choice);
  candidates_ = choice.candidates;
  fit(entry);
  Plan fitting = plan;
  const Bytes largest = usable_of_each(choice.candidates, choice.gpus);
  for (auto& asked : fitting.requests) {
    asked = policy::fitted(asked, largest_for_a_test());
    if (asked.is_estimated() && policy::to_memory_request(asked, chosen_.smallest).whole_device() && !choice.present) {
      // Only the last attempt asks for that, after the test has asked for more than others have left of a device.
      const auto is_smaller = [&](std::size_t index) { return machine_->usable_bytes(index) < largest; };
      choice.candidates.erase(std::remove_if(choice.candidates.begin(), choice.candidates.end(), is_smaller),
                              choice.candidates.end());
    }
  }
  auto request = request_for(choice, fitting, entry.large);
  request.who = who;
  request.estimated = entry.request.is_estimated();

  if (!choice.present && none_can_run(fitting, choice)) {
    pin(largest_of(choice));
    request.candidates = mask();
    deferred_ = std::move(request);
    return {};
  }
  // Where each of its tests is skipped if others are there, it does not wait until they leave.
  const bool may_wait = fitting.open_ended || fitting.requests.empty() ||
                        std::any_of(fitting.requests.begin(), fitting.requests.end(),
                                    [&](const Request& asked) { return messages_.may_wait(asked); });
  auto outcome = take_record(request, choice.candidates, may_wait);
  if (outcome.kind == Outcome::Kind::granted && choice.present) {
    tell(began_too_early(chosen_.devices));
  }
  return outcome;
}

Outcome Place::enter_if_deferred(bool may_wait) {
  if (deferred_) {
    if (auto outcome = take_record(*deferred_, chosen_.indices, may_wait); outcome.kind != Outcome::Kind::granted) {
      return outcome;
    }
    deferred_.reset();
  }
  return {};
}

/// Enters the ledger. Blocks, if it may wait, until there is room on the devices that the process has, or on some that
/// it may choose.
Outcome Place::take_record(const ledger::Ledger::EnterRequest& request, const std::vector<std::size_t>& candidates,
                           bool may_wait) {
  bool printed = false;
  const auto begin = os::KernelClock::now();
  const auto most = settings_.processes_per_device;
  const std::string place = most == 0
                                ? "a place on a GPU"
                                : "one of " + std::to_string(most) + " places on a GPU (GPUTEST_PROCESSES_PER_DEVICE)";
  auto patience = messages_.patience("", place, &printed);
  patience.may_wait = patience.may_wait && may_wait;
  const auto result = ledger_->enter(request, patience);
  if (result.kind != ledger::Result::Kind::granted) {
    return messages_.outcome_of(result, place, "");
  }
  if (chosen_.devices.empty()) {
    pin(candidates, result.devices);
  }
  os::set_variable("GPUTEST_LEASE_OF", ledger_->credential());
  const auto waited = os::KernelClock::now() - begin;
  log_enter(std::chrono::duration<double>{waited}.count());
  if (printed) {
    note(request.who + " goes on, on " + describe(chosen_.devices) + ", after waiting " +
         short_duration(std::chrono::duration_cast<std::chrono::seconds>(waited)));
  }
  return {};
}

policy::DeviceMask Place::mask_of(std::size_t gpus) const {
  policy::DeviceMask mask = 0;
  for (std::size_t i = 0; i < gpus; ++i) {
    mask |= chosen_.bits[i];
  }
  return mask;
}

/// Makes those of `indices` that are in `mask` this process's devices, and only them visible to CUDA, if it has not
/// started yet, and to the processes that this one starts.
void Place::pin(const std::vector<std::size_t>& indices, policy::DeviceMask mask) {
  std::vector<std::string> uuids;
  for (const std::size_t index : indices) {
    const Device& device = machine_->devices()[index];
    const auto bit = ledger_->devices().bit_of(device.uuid);
    if ((mask & bit) != 0) {
      chosen_.devices.push_back(device);
      chosen_.indices.push_back(index);
      chosen_.bits.push_back(bit);
      uuids.push_back(device.uuid);
    }
  }
  if (began_early()) { // CUDA has its numbers already
    keep_allocation();
  }
  show_only(uuids, counted_);
}

void Place::limit_to_smallest_of(const std::vector<std::size_t>& indices) {
  chosen_.smallest = machine_->devices()[indices.front()].total;
  for (const std::size_t index : indices) {
    chosen_.smallest = std::min(chosen_.smallest, machine_->devices()[index].total);
  }
}

Bytes Place::largest_for_a_test() const {
  if (parent_lease_) { // which limits its tests
    return {};
  }
  Bytes largest;
  for (const std::size_t index : candidates_) {
    largest = std::max(largest, machine_->usable_bytes(index) - overhead_.bytes());
  }
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  return Bytes{largest.count() / mebibyte * mebibyte};
}

Bytes Place::largest_total() const {
  Bytes largest;
  for (const std::size_t index : candidates_) {
    largest = std::max(largest, machine_->devices()[index].total + Bytes{machine_->set_aside_bytes(index)});
  }
  return largest;
}

Bytes Place::smallest_usable() const {
  Bytes smallest = machine_->usable_bytes(chosen_.indices.front());
  for (const std::size_t index : chosen_.indices) {
    smallest = std::min(smallest, machine_->usable_bytes(index));
  }
  return smallest;
}

void Place::fit(Entry& entry) const {
  entry.request = parent_lease_ ? parent_lease_->share_of(entry.request)
                  : machine_    ? policy::fitted(entry.request, largest_for_a_test())
                                : entry.request;
}

Outcome Place::check(const Request& request, const std::string& test) {
  if (entered_.kind != Outcome::Kind::granted) {
    return entered_;
  }
  const std::string who = messages_.full_name(test);
  if (static_cast<std::size_t>(request.gpus) > chosen_.devices.size()) {
    return parent_lease_ ? parent_lease_->beyond(request)
                         : messages_.skip(too_few_gpus(who, request.gpus, chosen_.devices, chosen_.why_no_more),
                                          SkipCause::no_gpu);
  }
  const auto first = chosen_.indices.begin();
  if (const auto why = why_not_capable(request.capabilities, {first, first + request.gpus}); !why.empty()) {
    return messages_.skip(not_capable(who, why), SkipCause::machine);
  }
  return {};
}

std::string Place::prepare_heap(const Request& request, const std::string& who) {
  return chosen_.numbered_as_in_cuda || request.heap == Bytes{}
             ? heap_.prepare(request.heap, chosen_.devices, request.gpus, who)
             : who + " asks for a device heap, and CUDA was initialised before gputest could choose a device, with a "
                     "context on another one than the first; start it by the launcher: LAUNCHER on, or gputest run";
}

void Place::measure_overhead(const devices::DeviceStateAfterSync& after_sync, Bytes managed,
                             Overhead::Clock::time_point now, bool is_context) {
  try {
    Bytes listed;
    for (const std::size_t index : chosen_.indices) {
      listed = std::max(listed, contexts_->used(index));
    }
    overhead_.measured(after_sync, listed, process_.lists_managed_memory() ? Bytes{} : managed, now);
    ledger_->set_overhead(overhead_.bytes().count());
    if (is_context && overhead_.to_learn() > Bytes{}) {
      ledger_->devices().remember(os::executable_identity().value_or(0), mask(), overhead_.to_learn().count());
    }
  } catch (const LedgerError&) { // NOLINT(bugprone-empty-catch)
    // The ledger then counts what was expected, as it did before.
  }
}

std::vector<std::string> Place::stray_contexts(const std::string& who) try {
  return has_devices() ? contexts_->strays(chosen_.indices, who) : std::vector<std::string>{};
} catch (const LedgerError&) { // of simulated devices; whoever uses them next hears of it
  return {};
}

} // namespace gputest::session
