// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/choice.hpp"

#include "core/ledger/device_probe.hpp"
#include "core/policy/visible_devices.hpp"
#include "core/settings/settings.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace gputest::session {

namespace {

bool contains(const std::vector<std::size_t>& indices, std::size_t index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

} // namespace

using devices::AskDriver;

std::vector<std::size_t> CapableDevices::usable(const std::vector<std::size_t>& indices, std::string& unusable) const {
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

std::vector<std::size_t> CapableDevices::capable(const Capabilities& required, const std::vector<std::size_t>& indices,
                                                 ledger::Ledger& ledger) const {
  std::vector<std::size_t> capable;
  std::vector<policy::DeviceFacts> facts;
  for (const std::size_t index : indices) {
    const auto candidate = this->candidate(required, index, ledger);
    if (policy::lacking(required, candidate).empty()) {
      capable.push_back(index);
      facts.push_back(candidate.facts);
    }
  }
  return required.has(Capability::Kind::peer_access) ? policy::largest_peer_group(capable, facts) : capable;
}

std::string CapableDevices::why_not(const Capabilities& required, const std::vector<std::size_t>& indices,
                                    ledger::Ledger& ledger) const {
  if (required.empty()) {
    return "";
  }
  std::vector<policy::Candidate> candidates;
  candidates.reserve(indices.size());
  for (const std::size_t index : indices) {
    candidates.push_back(candidate(required, index, ledger));
  }
  return policy::why_not(required, candidates, indices);
}

policy::Candidate CapableDevices::candidate(const Capabilities& required, std::size_t index,
                                            ledger::Ledger& ledger) const {
  policy::Candidate candidate;
  candidate.device = machine_->devices()[index];
  candidate.facts = machine_->facts(index, AskDriver::no);
  if (policy::needs_driver(required, candidate.facts)) {
    candidate.facts = machine_->facts(index, AskDriver::yes);
  }
  if (required.has(Capability::Kind::free_memory)) {
    const std::string& uuid = candidate.device.uuid;
    const auto capacity = ledger::make_probe(machine_)->capacity(uuid, ledger.records(), ledger.devices().bit_of(uuid));
    candidate.free = Bytes{capacity.total_bytes} - Bytes{capacity.external_bytes};
  }
  return candidate;
}

AllowedDevices allowed_devices(const devices::DeviceList& machine, const Settings& settings) {
  std::vector<std::string> uuids;
  uuids.reserve(machine.devices().size());
  for (const auto& device : machine.devices()) {
    uuids.push_back(device.uuid);
  }
  AllowedDevices allowed;
  const auto list = settings::restriction_of(settings, uuids.size());
  allowed.restriction = list ? list->variable + "='" + list->value + "'" : "CUDA_VISIBLE_DEVICES (not set)";
  allowed.visible = policy::visible_devices(list ? std::optional{list->value} : std::nullopt, uuids);
  std::vector<std::string> visible_uuids;
  visible_uuids.reserve(allowed.visible.size());
  for (const std::size_t index : allowed.visible) {
    visible_uuids.push_back(uuids[index]);
  }
  const auto& groups = settings.resource_groups;
  const auto allocation = policy::ctest_allocation(settings.resource_group_count, groups, visible_uuids);
  if (!allocation) {
    allowed.indices = allowed.visible;
    return allowed;
  }
  for (const std::size_t index : *allocation) {
    allowed.indices.push_back(allowed.visible[index]);
  }
  if (allowed.indices.size() < groups.size()) {
    allowed.note = "CTest has put its " + std::to_string(groups.size()) + " resource groups on " +
                   std::to_string(allowed.indices.size()) + (allowed.indices.size() == 1 ? " device" : " devices") +
                   ", which it may do; ask for as many slots a group as keep two from one device";
  }
  return allowed;
}

policy::DeviceKinds kinds_of(const devices::DeviceList& machine, const std::vector<std::size_t>& indices) {
  policy::DeviceKinds kinds;
  for (const std::size_t index : indices) {
    (machine.facts(index, devices::AskDriver::no).mig ? kinds.slices : kinds.whole).push_back(index);
  }
  return kinds;
}

Choice choose(const std::vector<std::size_t>& allowed, const policy::DeviceKinds& kinds, std::size_t gpus,
              const Capabilities& required, const CapableDevices& capable, ledger::Ledger& ledger) {
  Choice choice;
  choice.gpus = std::min(gpus, policy::max_for_a_process(kinds));
  choice.candidates = policy::candidates_for(kinds, allowed, choice.gpus);
  if (auto able = capable.capable(required, choice.candidates, ledger); able.size() >= choice.gpus) {
    choice.candidates = std::move(able); // otherwise each test is skipped with what its devices lack
  }
  return choice;
}

Choice already_chosen(const std::vector<std::size_t>& seen, const OwnContexts& contexts, std::size_t gpus) {
  const auto used = contexts.all();
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
  choice.first_seen = std::equal(choice.candidates.begin(), choice.candidates.end(), seen.begin());
  for (const std::size_t index : used) {
    if (!contains(seen, index)) {
      choice.candidates.push_back(index); // CUDA_VISIBLE_DEVICES has changed since
    }
  }
  return choice;
}

std::vector<std::size_t> largest_of(const Choice& choice, const devices::DeviceList& machine) {
  auto largest = choice.candidates;
  std::stable_sort(largest.begin(), largest.end(),
                   [&](std::size_t a, std::size_t b) { return machine.usable_bytes(a) > machine.usable_bytes(b); });
  largest.resize(std::min(largest.size(), choice.gpus));
  std::vector<std::size_t> in_order;
  std::copy_if(choice.candidates.begin(), choice.candidates.end(), std::back_inserter(in_order),
               [&](std::size_t index) { return contains(largest, index); });
  return in_order;
}

std::size_t gpus_of(const Plan& plan) {
  int gpus = 1;
  for (const auto& request : plan.requests) {
    gpus = std::max(gpus, request.gpus);
  }
  return static_cast<std::size_t>(gpus);
}

std::string why_fewer(const policy::DeviceKinds& kinds, std::size_t wanted) {
  if (kinds.slices.empty() || policy::max_for_a_process(kinds) >= wanted) {
    return "";
  }
  return "of the devices that it may use " + std::to_string(kinds.slices.size()) + " are MIG slices and " +
         std::to_string(kinds.whole.size()) +
         " are whole GPUs; CUDA gives a process one MIG slice and no device beside it, so several devices can only be "
         "whole GPUs";
}

Bytes usable_of_each(const std::vector<std::size_t>& indices, std::size_t gpus, const devices::DeviceList& machine) {
  std::vector<Bytes> usable;
  for (const std::size_t index : indices) {
    usable.push_back(machine.usable_bytes(index));
  }
  std::sort(usable.begin(), usable.end(), std::greater<>{});
  return gpus == 0 || usable.size() < gpus ? Bytes{} : usable[gpus - 1];
}

} // namespace gputest::session
