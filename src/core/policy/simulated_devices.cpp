// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/simulated_devices.hpp"

#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

namespace gputest::policy {

namespace {

using namespace literals;

/// What a primary context takes on an H200 before the first kernel is 527 MiB; a simulated process takes about as much.
constexpr Bytes usual_context = 512_MiB;

/// The simulated devices on their way from the setting.
struct Draft {
  SimulatedDevices devices;
  bool peers = true;
  bool tcc = false;
  bool wddm = false;
  bool exclusive = false;
  bool prohibited = false;
};

/// A word that switches something on; with the prefix `no_`, off.
struct Switch {
  std::string_view word;
  bool can_be_negated;
  void (*set)(Draft&, bool);
};

constexpr std::array<Switch, 13> switches{{
    {"memory_pools", true, [](Draft& d, bool on) { d.devices.facts.memory_pools = on; }},
    {"managed_memory", true, [](Draft& d, bool on) { d.devices.facts.managed_memory = on; }},
    {"concurrent_managed_access", true, [](Draft& d, bool on) { d.devices.facts.concurrent_managed_access = on; }},
    {"peer_access", true, [](Draft& d, bool on) { d.peers = on; }},
    {"cooperative_launch", true, [](Draft& d, bool on) { d.devices.facts.cooperative_launch = on; }},
    {"tcc", true, [](Draft& d, bool on) { d.tcc = on; }},
    {"wddm", true, [](Draft& d, bool on) { d.wddm = on; }},
    {"mig", true, [](Draft& d, bool on) { d.devices.facts.mig = on; }},
    {"exclusive_process", false, [](Draft& d, bool on) { d.exclusive = on; }},
    {"prohibited", false, [](Draft& d, bool on) { d.prohibited = on; }},
    {"lost", false, [](Draft& d, bool on) { d.devices.facts.lost = on; }},
    {"integrated", false, [](Draft& d, bool on) { d.devices.facts.shares_host_memory = on; }},
    {"no_process_list", false, [](Draft& d, bool on) { d.devices.facts.lists_processes = !on; }},
}};

std::string allowed_options() {
  std::string words;
  std::string others;
  for (const auto& one : switches) {
    auto& list = one.can_be_negated ? words : others;
    list += std::string{list.empty() ? "" : ", "} + std::string{one.word};
  }
  return words + ", each of these with no_ before it, sm_<n>, " + others + ", context=<size>, return=<n>ms";
}

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw InvalidSetting{"the option '" + option + "' " + why + "; options are " + allowed_options()};
}

/// Applies one option. Returns what it is about, which no second option may be about.
std::string_view apply(Draft& draft, const std::string& option) {
  constexpr std::string_view no = "no_";
  constexpr std::string_view sm = "sm_";
  constexpr std::string_view context = "context=";
  constexpr std::string_view back = "return=";
  for (const auto& one : switches) {
    if (option == one.word) {
      one.set(draft, true);
      return one.word;
    }
    if (one.can_be_negated && starts_with(option, no) && option.substr(no.size()) == one.word) {
      one.set(draft, false);
      return one.word;
    }
  }
  if (starts_with(option, sm)) {
    draft.devices.facts.sm =
        static_cast<unsigned>(parse_int(option.substr(sm.size()), 10, 999, "the number in sm_<n>"));
    return sm;
  }
  if (starts_with(option, context)) {
    const std::string size = option.substr(context.size());
    draft.devices.context = size == "0" ? 0_B : parse_bytes(size, "the size of a context");
    return context;
  }
  if (starts_with(option, back) && option.size() > back.size() + 2 && option.substr(option.size() - 2) == "ms") {
    constexpr int max_milliseconds = 60'000;
    const std::string number = option.substr(back.size(), option.size() - back.size() - 2);
    draft.devices.return_after =
        std::chrono::milliseconds{parse_int(number, 0, max_milliseconds, "the time in return=<n>ms")};
    return back;
  }
  refuse(option, "is unknown");
}

void apply_all(Draft& draft, const std::vector<std::string>& options) {
  std::set<std::string_view> seen;
  for (const auto& option : options) {
    if (!seen.insert(apply(draft, option)).second) {
      refuse(option, "says again what another one says");
    }
  }
  if (draft.tcc && draft.wddm) {
    refuse("wddm", "contradicts tcc: a device has one driver model");
  }
  if (draft.exclusive && draft.prohibited) {
    refuse("prohibited", "contradicts exclusive_process: a device has one compute mode");
  }
  DeviceFacts& facts = draft.devices.facts;
  facts.driver_model = draft.tcc ? DriverModel::tcc : draft.wddm ? DriverModel::wddm : DriverModel::none;
  facts.compute_mode = draft.exclusive    ? ComputeMode::exclusive_process
                       : draft.prohibited ? ComputeMode::prohibited
                                          : ComputeMode::usual;
  facts.peers.emplace();
  for (std::size_t i = 0; draft.peers && i < static_cast<std::size_t>(draft.devices.count); ++i) {
    facts.peers->push_back(i);
  }
}

/// A short name for what the options say beside the context; empty if they say nothing.
std::string kind_of(std::vector<std::string> options) {
  std::sort(options.begin(), options.end());
  std::string text;
  for (const auto& option : options) {
    text += starts_with(option, "context=") ? "" : option + ",";
  }
  if (text.empty()) {
    return "";
  }
  std::array<char, 8> digits{};
  const auto hash = static_cast<std::uint32_t>(fnv1a(text));
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr};
}

} // namespace

DeviceFacts usual_simulated_facts() {
  DeviceFacts facts;
  facts.sm = 90;
  facts.memory_pools = true;
  facts.managed_memory = true;
  facts.concurrent_managed_access = true;
  facts.cooperative_launch = true;
  return facts;
}

int parse_int(std::string_view text, int smallest, int largest, const std::string& what) {
  int value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != text.data() + text.size() || value < smallest ||
      value > largest) {
    throw InvalidSetting{what + " '" + std::string{text} + "' is not a whole number from " + std::to_string(smallest) +
                         " to " + std::to_string(largest)};
  }
  return value;
}

SimulatedDevices parse_simulated_devices(const std::string& text) {
  constexpr int max_devices = 16;
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  const std::string shape = parts.front();
  parts.erase(parts.begin());
  const auto times = shape.find('x');
  if (times == std::string::npos) {
    throw InvalidSetting{"'" + shape + "' is not <n>x<size>, the number and the size of the devices"};
  }
  Draft draft;
  draft.devices.context = usual_context;
  draft.devices.count = parse_int(std::string_view{shape}.substr(0, times), 1, max_devices, "the number of devices");
  draft.devices.size = parse_bytes(std::string_view{shape}.substr(times + 1), "the size of a device");
  apply_all(draft, parts);
  if (draft.devices.context >= draft.devices.size) {
    throw InvalidSetting{"it leaves no memory: one process's context takes " + to_string(draft.devices.context)};
  }
  draft.devices.kind = kind_of(parts);
  return draft.devices;
}

} // namespace gputest::policy
