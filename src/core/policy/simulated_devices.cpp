// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/simulated_devices.hpp"

#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string_view>
#include <vector>

namespace gputest::policy {

namespace {

using namespace literals;

/// What a primary context takes on an H200 before the first kernel is 527 MiB; a simulated process takes about as much.
constexpr Bytes usual_context = 512_MiB;

/// A word that switches something on; with the prefix `no_`, off.
struct Switch {
  std::string_view word;
  bool can_be_negated;
  void (*set)(SimulatedDevices&, bool);
};

void set_driver_model(SimulatedDevices& devices, bool on, DriverModel model) {
  devices.facts.driver_model = on ? model : DriverModel::none;
}

void set_peers(SimulatedDevices& devices, bool on) {
  devices.facts.peers.emplace(on ? static_cast<std::size_t>(devices.count) : 0);
  std::iota(devices.facts.peers->begin(), devices.facts.peers->end(), std::size_t{0});
}

constexpr std::array<Switch, 13> switches{{
    {"memory_pools", true, [](SimulatedDevices& d, bool on) { d.facts.memory_pools = on; }},
    {"managed_memory", true, [](SimulatedDevices& d, bool on) { d.facts.managed_memory = on; }},
    {"concurrent_managed_access", true, [](SimulatedDevices& d, bool on) { d.facts.concurrent_managed_access = on; }},
    {"peer_access", true, set_peers},
    {"cooperative_launch", true, [](SimulatedDevices& d, bool on) { d.facts.cooperative_launch = on; }},
    {"tcc", true, [](SimulatedDevices& d, bool on) { set_driver_model(d, on, DriverModel::tcc); }},
    {"wddm", true, [](SimulatedDevices& d, bool on) { set_driver_model(d, on, DriverModel::wddm); }},
    {"mig", true, [](SimulatedDevices& d, bool on) { d.facts.mig = on; }},
    {"exclusive_process", false,
     [](SimulatedDevices& d, bool /*on*/) { d.facts.compute_mode = ComputeMode::exclusive_process; }},
    {"prohibited", false, [](SimulatedDevices& d, bool /*on*/) { d.facts.compute_mode = ComputeMode::prohibited; }},
    {"lost", false, [](SimulatedDevices& d, bool on) { d.facts.lost = on; }},
    {"integrated", false, [](SimulatedDevices& d, bool on) { d.facts.shares_host_memory = on; }},
    {"no_process_list", false, [](SimulatedDevices& d, bool on) { d.facts.lists_processes = !on; }},
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

void apply(SimulatedDevices& devices, const std::string& option) {
  constexpr std::string_view no = "no_";
  constexpr std::string_view sm = "sm_";
  constexpr std::string_view context = "context=";
  constexpr std::string_view back = "return=";
  for (const auto& one : switches) {
    const bool off = one.can_be_negated && starts_with(option, no) && option.substr(no.size()) == one.word;
    if (off || option == one.word) {
      one.set(devices, !off);
      return;
    }
  }
  if (starts_with(option, sm)) {
    devices.facts.sm = static_cast<unsigned>(parse_int(option.substr(sm.size()), 10, 999, "the number in sm_<n>"));
  } else if (starts_with(option, context)) {
    const std::string size = option.substr(context.size());
    devices.context = size == "0" ? 0_B : parse_bytes(size, "the size of a context");
  } else if (starts_with(option, back) && option.size() > back.size() + 2 && option.substr(option.size() - 2) == "ms") {
    constexpr int max_milliseconds = 60'000;
    const std::string number = option.substr(back.size(), option.size() - back.size() - 2);
    devices.return_after =
        std::chrono::milliseconds{parse_int(number, 0, max_milliseconds, "the time in return=<n>ms")};
  } else {
    throw InvalidSetting{"the option '" + option + "' is unknown; options are " + allowed_options()};
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
  SimulatedDevices devices;
  devices.context = usual_context;
  devices.count = parse_int(std::string_view{shape}.substr(0, times), 1, max_devices, "the number of devices");
  devices.size = parse_bytes(std::string_view{shape}.substr(times + 1), "the size of a device");
  set_peers(devices, true);
  for (const auto& option : parts) {
    apply(devices, option);
  }
  if (devices.context >= devices.size) {
    throw InvalidSetting{"it leaves no memory: one process's context takes " + to_string(devices.context)};
  }
  devices.kind = kind_of(parts);
  return devices;
}

} // namespace gputest::policy
