// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/capabilities.hpp"

#include <gputest/capability.hpp>
#include <gputest/error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace gputest {

namespace {

using Kind = Capability::Kind;

constexpr std::array<std::string_view, Capability::kinds> words{"memory_pools",
                                                                "managed_memory",
                                                                "concurrent_managed_access",
                                                                "peer_access",
                                                                "cooperative_launch",
                                                                "tcc",
                                                                "wddm",
                                                                "mig",
                                                                "sm",
                                                                "total_memory",
                                                                "free_memory"};

Kind kind_at(std::size_t index) { return static_cast<Kind>(index); }

bool is_amount(Kind kind) { return kind == Kind::sm || kind == Kind::total_memory || kind == Kind::free_memory; }

bool is_compute_capability(std::uint64_t number) { return number >= 10 && number <= 999; }

/// How the word is written where it is read.
std::string usage_of(Kind kind) {
  const std::string word{to_string(kind)};
  return kind == Kind::sm ? "sm_<n> such as sm_80" : is_amount(kind) ? word + "=<size>" : word;
}

std::string all_usages() {
  std::string text;
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    text += (text.empty() ? "" : ", ") + usage_of(kind_at(i));
  }
  return text;
}

/// What follows `prefix` in `text`, if it begins so.
std::optional<std::string_view> after(std::string_view prefix, std::string_view text) {
  if (text.substr(0, prefix.size()) != prefix) {
    return std::nullopt;
  }
  return text.substr(prefix.size());
}

std::optional<Capability> parse_word(std::string_view word, std::string_view what) {
  if (const auto number = after("sm_", word)) {
    unsigned least = 0;
    const auto result = std::from_chars(number->data(), number->data() + number->size(), least);
    const bool whole = result.ec == std::errc{} && result.ptr == number->data() + number->size();
    return whole && is_compute_capability(least) ? std::optional{capabilities::sm(least)} : std::nullopt;
  }
  for (const Kind kind : {Kind::total_memory, Kind::free_memory}) {
    if (const auto size = after(std::string{to_string(kind)} + "=", word)) {
      return Capability{kind, parse_bytes(*size, std::string{what} + ": " + std::string{to_string(kind)}).count()};
    }
  }
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    if (!is_amount(kind_at(i)) && word == words.at(i)) {
      return Capability{kind_at(i)};
    }
  }
  return std::nullopt;
}

} // namespace

std::string_view to_string(Capability::Kind kind) { return words.at(static_cast<std::size_t>(kind)); }

Capabilities parse_capabilities(std::string_view text, std::string_view what) {
  constexpr std::string_view separators = " ,;";
  Capabilities all;
  for (auto begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(separators, begin), text.size());
    const auto word = text.substr(begin, end - begin);
    const auto one = parse_word(word, what);
    if (!one) {
      throw InvalidSetting{std::string{what} + "='" + std::string{text} + "' cannot be used: '" + std::string{word} +
                           "' is unknown; it is any of " + all_usages()};
    }
    all = all | Capabilities{*one};
    begin = text.find_first_not_of(separators, end);
  }
  return all;
}

std::string mistake_in(const Capabilities& capabilities) {
  const auto least = capabilities.least(Kind::sm);
  if (least == 0 || is_compute_capability(least)) {
    return "";
  }
  return "sm(" + std::to_string(least) + "); the compute capability is written without its point, as sm(80) for 8.0";
}

std::string to_string(const Capabilities& capabilities) {
  std::string text;
  for (std::size_t i = 0; i < Capability::kinds; ++i) {
    const Kind kind = kind_at(i);
    const auto least = capabilities.least(kind);
    if (least == 0) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + std::string{to_string(kind)};
    if (kind == Kind::sm) {
      text += "_" + std::to_string(least);
    } else if (is_amount(kind)) {
      text += " of " + to_string(Bytes{least});
    }
  }
  return text;
}

} // namespace gputest

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

int most_processes(const DeviceFacts& facts) {
  return facts.compute_mode == ComputeMode::exclusive_process ? 1 : facts.processes_allowed;
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

MemoryPlace memory_place(std::uint64_t total_bytes, std::uint64_t reserved_bytes, std::uint64_t host_bytes,
                         std::optional<std::uint64_t> node_bytes) {
  // A node that also has other memory says nothing of the device's.
  if (node_bytes && *node_bytes > 0 && *node_bytes <= total_bytes) {
    return MemoryPlace::numa_node;
  }
  // The kernel keeps a part of the host's memory, which its total leaves out and the driver's need not. The driver
  // reserves memory of a device that has its own.
  constexpr std::uint64_t near = 16;
  const auto difference = std::max(total_bytes, host_bytes) - std::min(total_bytes, host_bytes);
  const bool is_hosts =
      total_bytes == 0 || total_bytes == host_bytes || (reserved_bytes == 0 && difference <= host_bytes / near);
  return is_hosts ? MemoryPlace::host : MemoryPlace::device;
}

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
