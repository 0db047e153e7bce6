// SPDX-License-Identifier: BSD-3-Clause
// How a place chooses its devices, and with what it enters the ledger.
#include "core/session/place.hpp"

#include "core/ledger/device_probe.hpp"
#include "core/os/file.hpp"
#include "core/policy/request.hpp"
#include "core/policy/visible_devices.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace gputest::session {

namespace {

bool contains(const std::vector<std::size_t>& indices, std::size_t index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

/// Whole GPUs and MIG slices among some devices of the machine.
policy::DeviceKinds kinds_of(const devices::DeviceList& machine, const std::vector<std::size_t>& indices) {
  policy::DeviceKinds kinds;
  for (const std::size_t index : indices) {
    (machine.facts(index, devices::AskDriver::no).mig ? kinds.slices : kinds.whole).push_back(index);
  }
  return kinds;
}

/// The largest number of devices that any test of the plan wants.
std::size_t gpus_of(const Plan& plan) {
  int gpus = 1;
  for (const auto& request : plan.requests) {
    gpus = std::max(gpus, request.gpus);
  }
  return static_cast<std::size_t>(gpus);
}

/// Why a process gets fewer devices than it may use; empty if it does not.
std::string why_fewer(const policy::DeviceKinds& kinds, std::size_t wanted) {
  if (kinds.slices.empty() || policy::max_for_a_process(kinds) >= wanted) {
    return "";
  }
  return "of the devices that it may use " + std::to_string(kinds.slices.size()) + " are MIG slices and " +
         std::to_string(kinds.whole.size()) +
         " are whole GPUs; CUDA gives a process one MIG slice and no device beside it, so several devices can only be "
         "whole GPUs";
}

} // namespace

using devices::AskDriver;

std::vector<std::size_t> Place::usable(const std::vector<std::size_t>& indices, std::string& unusable) const {
  std::vector<std::size_t> all;
  for (const std::size_t index : indices) {
    const auto why = policy::why_unusable(machine_->facts(index, AskDriver::no));
    if (why.empty()) {
      all.push_back(index);
    } else {
      const Device& device = machine_->devices()[index];
      unusable += (unusable.empty() ? "" : "; ") + device.uuid + " (" + device.name + ") cannot be used: " + why;
    }
  }
  return all;
}

std::vector<std::size_t> Place::capable(const Capabilities& required, const std::vector<std::size_t>& indices) {
  std::vector<std::size_t> capable;
  std::vector<policy::DeviceFacts> facts;
  for (const std::size_t index : indices) {
    const auto candidate = this->candidate(required, index);
    if (policy::lacking(required, candidate).empty()) {
      capable.push_back(index);
      facts.push_back(candidate.facts);
    }
  }
  return required.has(Capability::Kind::peer_access) ? policy::largest_peer_group(capable, facts) : capable;
}

std::string Place::why_not_capable(const Capabilities& required, const std::vector<std::size_t>& indices) {
  if (required.empty()) {
    return "";
  }
  std::vector<policy::Candidate> candidates;
  candidates.reserve(indices.size());
  for (const std::size_t index : indices) {
    candidates.push_back(candidate(required, index));
  }
  return policy::why_not(required, candidates, indices);
}

policy::Candidate Place::candidate(const Capabilities& required, std::size_t index) {
  policy::Candidate candidate;
  candidate.device = machine_->devices()[index];
  candidate.facts = machine_->facts(index, AskDriver::no);
  if (policy::needs_driver(required, candidate.facts)) {
    candidate.facts = machine_->facts(index, AskDriver::yes);
  }
  if (required.has(Capability::Kind::free_memory)) {
    const std::string& uuid = candidate.device.uuid;
    const auto capacity =
        ledger::make_probe(machine_)->capacity(uuid, ledger_->records(), ledger_->devices().bit_of(uuid));
    candidate.free = Bytes{capacity.total_bytes} - Bytes{capacity.external_bytes};
  }
  return candidate;
}

/// For a process that has not used a device yet: the devices that have all that its tests require. If there are none,
/// all that it may use; each test is then checked by itself. A test that needs more devices than one process can have
/// is skipped; the others run.
Place::Choice Place::choose(const Plan& plan, const AllowedDevices& allowed, const Capabilities& required) {
  const auto wanted = gpus_of(plan);
  if (contexts_->begun_before()) {
    return already_chosen(policy::shown_by_cuda(kinds_of(*machine_, allowed.visible), allowed.visible), wanted);
  }
  const auto kinds = kinds_of(*machine_, allowed.indices);
  chosen_.add_why_no_more(why_fewer(kinds, wanted));
  Choice choice;
  choice.gpus = std::min(wanted, policy::max_for_a_process(kinds));
  choice.candidates = policy::candidates_for(kinds, allowed.indices, choice.gpus);
  if (auto able = capable(required, choice.candidates); able.size() >= choice.gpus) {
    choice.candidates = std::move(able); // otherwise each test is skipped with what its devices lack
  }
  return choice;
}

/// For a process that has used devices: those on which it has a context and, if its tests want more, those that are
/// first in its view.
Place::Choice Place::already_chosen(const std::vector<std::size_t>& seen, std::size_t gpus) {
  const auto used = contexts_->all();
  auto taken = used;
  for (const std::size_t index : seen) {
    if (taken.size() < gpus && !contains(taken, index)) {
      taken.push_back(index);
    }
  }
  Choice choice;
  choice.present = true;
  choice.gpus = taken.size();
  for (const std::size_t index : seen) {
    if (contains(taken, index)) {
      choice.candidates.push_back(index);
    }
  }
  chosen_.numbered_as_in_cuda = std::equal(choice.candidates.begin(), choice.candidates.end(), seen.begin());
  for (const std::size_t index : used) {
    if (!contains(seen, index)) {
      choice.candidates.push_back(index); // CUDA_VISIBLE_DEVICES has changed since
    }
  }
  return choice;
}

/// As many of the candidates as the process needs, those with the most memory, in the candidates' order.
std::vector<std::size_t> Place::largest_of(const Choice& choice) const {
  auto largest = choice.candidates;
  std::stable_sort(largest.begin(), largest.end(),
                   [&](std::size_t a, std::size_t b) { return machine_->usable_bytes(a) > machine_->usable_bytes(b); });
  largest.resize(std::min(largest.size(), choice.gpus));
  std::vector<std::size_t> in_order;
  std::copy_if(choice.candidates.begin(), choice.candidates.end(), std::back_inserter(in_order),
               [&](std::size_t index) { return contains(largest, index); });
  return in_order;
}

/// The most that a process can have of each of the `gpus` largest of these devices; 0 if they are fewer.
Bytes Place::usable_of_each(const std::vector<std::size_t>& indices, std::size_t gpus) const {
  std::vector<Bytes> usable;
  usable.reserve(indices.size());
  for (const std::size_t index : indices) {
    usable.push_back(machine_->usable_bytes(index));
  }
  std::sort(usable.begin(), usable.end(), std::greater<>{});
  return gpus == 0 || usable.size() < gpus ? Bytes{} : usable[gpus - 1];
}

/// What the process is going to take of the candidates by itself.
void Place::expect_overhead(const Choice& choice) {
  auto& table = ledger_->devices();
  policy::DeviceMask candidates = 0;
  std::uint64_t usual = 0;
  for (const std::size_t index : choice.candidates) {
    candidates |= table.bit_of(machine_->devices()[index].uuid);
    usual = std::max(usual, machine_->usual_overhead_bytes(index));
  }
  usual = std::max(usual, table.overhead_bytes(candidates));
  const auto learnt = table.context_bytes(os::executable_identity().value_or(0), candidates);
  // Once it is used, the heap exists as long as the context does, so it counts as overhead.
  overhead_.expect(Bytes{usual}, Bytes{learnt}, heap_.cost());
}

/// The request with which the process enters: its overhead, and the largest lease that any of its tests may wait for.
ledger::Ledger::EnterRequest Place::request_for(const Choice& choice, const Plan& plan, LargePolicy large) {
  ledger::Ledger::EnterRequest request;
  request.gpus = static_cast<unsigned>(choice.gpus);
  request.present = choice.present;
  Bytes overhead = overhead_.bytes();
  for (const std::size_t index : choice.candidates) {
    request.candidates |= ledger_->devices().bit_of(machine_->devices()[index].uuid);
    overhead = std::max(overhead, choice.present ? contexts_->used(index) : Bytes{});
  }
  request.overhead_bytes = overhead.count();
  const Bytes most = usable_of_each(choice.candidates, choice.gpus);
  auto requests = plan.requests;
  const bool large_waits = large != LargePolicy::exclude;
  if (plan.open_ended) {
    requests.emplace_back(large_waits ? MemoryClass::large : MemoryClass::medium);
  }
  for (const auto& asked : requests) {
    const auto memory = policy::to_memory_request(asked, chosen_.smallest);
    const bool waits = asked.memory_class != MemoryClass::large || large_waits || asked.is_estimated();
    // A request that can never fit is refused when its test starts. It must not exclude other processes.
    if (waits && memory.bytes + overhead <= most) {
      request.largest_bytes = std::max(request.largest_bytes, memory.bytes.count());
      request.whole_devices = request.whole_devices || memory.exclusive;
    }
  }
  return request;
}

/// Whether each test of the plan is going to be skipped, whatever others hold: then there is nothing to wait for.
bool Place::none_can_run(const Plan& plan, const Choice& choice) {
  const auto cannot_run = [&](const Request& asked) {
    const auto gpus = static_cast<std::size_t>(asked.gpus);
    if (gpus > choice.gpus || messages_.decide_large(asked) == policy::LargeDecision::exclude) {
      return true;
    }
    const auto able = capable(asked.capabilities, choice.candidates);
    return policy::to_memory_request(asked, chosen_.smallest).bytes + overhead_.bytes() > usable_of_each(able, gpus);
  };
  return !plan.open_ended && !plan.requests.empty() &&
         std::all_of(plan.requests.begin(), plan.requests.end(), cannot_run);
}

} // namespace gputest::session
