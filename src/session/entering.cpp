// How a session begins: devices chosen and pinned, the ledger entered.
#include "session/session.hpp"

#include "devices/witness.hpp"
#include "session/enter_request.hpp"
#include "session/messages.hpp"
#include "session/reasons.hpp"
#include "system/environment.hpp"

#include <algorithm>

namespace gputest::session {

namespace {

void add(std::string& texts, const std::string& text) { texts += (texts.empty() || text.empty() ? "" : "; ") + text; }

} // namespace

Outcome Session::enter(const Plan& plan) {
  std::vector<Bytes> heaps;
  for (const auto& requirement : plan.requirements) {
    heaps.push_back(requirement.heap);
  }
  heap_.expect(heaps);
  std::string why_none;
  machine_ = devices::open_devices(settings_, why_none);
  if (machine_->devices().empty()) {
    return entered_ = answers_.skip("no GPU: " + why_none, true);
  }
  auto allowed = allowed_devices(*machine_);
  if (allowed.indices.empty()) {
    return entered_ = answers_.skip("no GPU: " + allowed.restriction + " allows none of the " +
                                        std::to_string(machine_->devices().size()) + " of this machine",
                                    true);
  }
  contexts_.emplace(machine_);
  const auto witness = devices::make_witness(machine_);
  capable_.emplace(machine_, witness);
  why_no_more_ = machine_->left_out();
  add(why_no_more_, allowed.note);
  std::string unusable;
  allowed.indices = capable_->usable(allowed.indices, unusable);
  add(why_no_more_, unusable);
  if (allowed.indices.empty()) {
    return entered_ = answers_.skip("no GPU: " + why_no_more_, true);
  }
  ledger_.emplace(settings_.folder, witness);
  cover_ = Cover::find(settings_.lease_of, *ledger_, *machine_);
  return entered_ = cover_ ? run_under(*cover_, allowed) : enter_ledger(plan, allowed);
}

Outcome Session::run_under(const Cover& cover, const AllowedDevices& allowed) {
  const auto own = cover.devices_among(allowed.indices);
  if (own.empty()) {
    return cover.nothing_left(allowed.restriction);
  }
  settings_.requirement = cover.share_of(settings_.requirement);
  limit_to_smallest_of(own);
  for (const std::size_t index : own) {
    take(index);
  }
  pin();
  return {};
}

Outcome Session::enter_ledger(const Plan& plan, const AllowedDevices& allowed) {
  answers_.set_rank(policy::find_mpi_rank(system::read_variable));
  const std::string who = answers_.full_name("");
  if (settings_.device_memory) {
    tell("every decision is as on devices of at most " + to_string(*settings_.device_memory) +
         " (GPUTEST_DEVICE_MEMORY)");
  }
  const auto& of_all = settings_.requirement.capabilities;
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
    return answers_.skip(not_capable(who, capable_->why_not(of_all, possible, *ledger_)));
  }
  limit_to_smallest_of(possible);
  // Once it is used the heap stays for as long as the context does, so it counts as that does.
  Bytes overhead = usual_context(choice, *machine_, ledger_->devices()) + heap_.cost();
  least_overhead_ = overhead.count();
  if (choice.present) {
    for (const std::size_t index : choice.candidates) {
      overhead = std::max(overhead, contexts_->used(index));
    }
  }
  auto request = enter_request(choice, plan, overhead, smallest_, settings_, *machine_, ledger_->devices());
  request.who = who;

  bool told = false;
  const auto result = ledger_->enter(request, answers_.patience(who, "a place on a GPU", &told));
  if (result.kind != ledger::Result::Kind::granted) {
    return answers_.outcome_of(result, "a place on a GPU", "");
  }
  for (const std::size_t index : choice.candidates) {
    if ((result.devices & ledger_->devices().bit_of(machine_->devices()[index].uuid)) != 0) {
      take(index);
    }
  }
  pin();
  system::set_variable("GPUTEST_LEASE_OF", ledger_->credential());
  if (contexts_->begun_before()) {
    tell(began_too_early(devices_));
  }
  if (told) {
    tell(who + " goes on, on " + describe(devices_));
  }
  return {};
}

/// Makes it one of this process's devices.
void Session::take(std::size_t index) {
  const Device& device = machine_->devices()[index];
  devices_.push_back(device);
  indices_.push_back(index);
  bits_.push_back(ledger_->devices().bit_of(device.uuid));
}

/// Shows CUDA this process's devices and no others, if it has not looked yet, and those that it will start.
void Session::pin() const {
  std::string visible;
  for (const auto& device : devices_) {
    visible += (visible.empty() ? "" : ",") + device.uuid;
  }
  system::set_variable("CUDA_VISIBLE_DEVICES", visible);
}

void Session::limit_to_smallest_of(const std::vector<std::size_t>& indices) {
  smallest_ = machine_->devices()[indices.front()].total;
  for (const std::size_t index : indices) {
    smallest_ = std::min(smallest_, machine_->devices()[index].total);
  }
}

} // namespace gputest::session
