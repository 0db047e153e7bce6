// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/capabilities.hpp"

#include <algorithm>

namespace gputest::policy {

std::string why_unusable(const DeviceFacts& facts) {
  if (facts.lost) {
    return "it does not answer (lost, or in error); nvidia-smi shows its state, and a reset or a reboot brings it back";
  }
  if (facts.compute_mode == ComputeMode::prohibited) {
    return "its compute mode is PROHIBITED, so no process may use it; `nvidia-smi -c DEFAULT` allows it";
  }
  return "";
}

namespace {

using Kind = Capability::Kind;

/// Whether a device has something that is no amount; nullopt if that is not known.
std::optional<bool> has(Kind kind, const DeviceFacts& facts) {
  switch (kind) {
  case Kind::memory_pools:
    return facts.memory_pools;
  case Kind::managed_memory:
    return facts.managed_memory;
  case Kind::concurrent_managed_access:
    return facts.concurrent_managed_access;
  case Kind::cooperative_launch:
    return facts.cooperative_launch;
  case Kind::tcc:
    return facts.driver_model == DriverModel::tcc;
  case Kind::wddm:
    return facts.driver_model == DriverModel::wddm;
  case Kind::mig:
    return facts.mig;
  case Kind::peer_access: // between devices
  case Kind::sm:
  case Kind::total_memory:
  case Kind::free_memory:
    break;
  }
  return true;
}

std::string unknown(Kind kind, const DeviceFacts& facts) {
  return std::string{to_string(kind)} + " unknown" + (facts.why_unknown.empty() ? "" : " (" + facts.why_unknown + ")");
}

bool reaches(const DeviceFacts& facts, std::size_t other) {
  return facts.peers && std::find(facts.peers->begin(), facts.peers->end(), other) != facts.peers->end();
}

std::string name_of(const Device& device) { return device.uuid + " (" + device.name + ")"; }

} // namespace

bool needs_driver(const Capabilities& required, const DeviceFacts& facts) {
  bool unknown = (required.has(Kind::peer_access) && !facts.peers) || (required.has(Kind::sm) && !facts.sm);
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    unknown = unknown || (required.has(static_cast<Kind>(i)) && !has(static_cast<Kind>(i), facts));
  }
  return unknown;
}

std::string lacking(const Capabilities& required, const Candidate& candidate) {
  const DeviceFacts& facts = candidate.facts;
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    const auto least = required.least(kind);
    if (least == 0) {
      continue;
    }
    if (kind == Kind::sm) {
      if (!facts.sm) {
        add(unknown(kind, facts));
      } else if (*facts.sm < least) {
        add("sm_" + std::to_string(*facts.sm));
      }
    } else if (kind == Kind::total_memory || kind == Kind::free_memory) {
      const Bytes seen = kind == Kind::total_memory ? candidate.device.total : candidate.free;
      if (seen < Bytes{least}) {
        add(std::string{to_string(kind)} + " of " + to_string(seen));
      }
    } else if (const auto there = has(kind, facts); !there) {
      add(unknown(kind, facts));
    } else if (!*there) {
      add("no " + std::string{to_string(kind)});
    }
  }
  return text;
}

std::string why_not(const Capabilities& required, const std::vector<Candidate>& candidates,
                    const std::vector<std::size_t>& indices) {
  std::string seen;
  const auto add = [&](const std::string& what) { seen += (seen.empty() ? "" : "; ") + what; };
  for (const auto& candidate : candidates) {
    if (const auto instead = lacking(required, candidate); !instead.empty()) {
      add(name_of(candidate.device) + " has " + instead);
    }
  }
  for (std::size_t a = 0; required.has(Kind::peer_access) && a < candidates.size(); ++a) {
    for (std::size_t b = a + 1; b < candidates.size(); ++b) {
      const DeviceFacts& facts = candidates[a].facts;
      if (!facts.peers) {
        add(name_of(candidates[a].device) + " has " + unknown(Kind::peer_access, facts));
      } else if (!reaches(facts, indices[b]) || !reaches(candidates[b].facts, indices[a])) {
        add("between " + name_of(candidates[a].device) + " and " + name_of(candidates[b].device) +
            " there is no peer_access");
      }
    }
  }
  return seen.empty() ? "" : "asked " + to_string(required) + "; " + seen;
}

std::vector<std::size_t> largest_peer_group(const std::vector<std::size_t>& indices,
                                            const std::vector<DeviceFacts>& facts) {
  const auto are_peers = [&](std::size_t a, std::size_t b) {
    return reaches(facts[a], indices[b]) && reaches(facts[b], indices[a]);
  };
  // Devices that share a switch or a bridge all reach one another, so that growing from each device finds the largest.
  std::vector<std::size_t> largest;
  for (std::size_t seed = 0; seed < indices.size(); ++seed) {
    std::vector<std::size_t> group{seed};
    for (std::size_t next = seed + 1; next < indices.size(); ++next) {
      if (std::all_of(group.begin(), group.end(), [&](std::size_t member) { return are_peers(member, next); })) {
        group.push_back(next);
      }
    }
    if (group.size() > largest.size()) {
      largest = group;
    }
  }
  std::transform(largest.begin(), largest.end(), largest.begin(), [&](std::size_t at) { return indices[at]; });
  return largest;
}

} // namespace gputest::policy
