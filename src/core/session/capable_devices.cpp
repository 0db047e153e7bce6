// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/capable_devices.hpp"

#include "core/ledger/device_probe.hpp"

namespace gputest::session {

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

} // namespace gputest::session
