// SPDX-License-Identifier: BSD-3-Clause
#include "insights/plan_demand.hpp"

#include "core/policy/heap_cost.hpp"
#include "core/policy/large_policy.hpp"

#include <algorithm>
#include <tuple>

namespace gputest::insights {

namespace {

/// COST of cases that workers may run, in place of which scheduling gives its own (discover.cmake).
constexpr double cost_of_workers_cases = 5;

/// What the devices have for tests.
struct Sizes {
  Bytes smallest;
  Bytes largest;
};

Sizes sizes_of(const std::vector<policy::Candidate>& devices) {
  const auto [smallest, largest] =
      std::minmax_element(devices.begin(), devices.end(), [](const auto& a, const auto& b) { return a.free < b.free; });
  return devices.empty() ? Sizes{} : Sizes{smallest->free, largest->free};
}

/// Finds the candidates. Why the test does not run; empty if it does.
std::string find_candidates(Demand& demand, const Request& request, const PlannedMachine& machine, Bytes largest) {
  const Bytes bytes = demand.memory.bytes + demand.overhead;
  std::string lacks;
  unsigned found = 0;
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    const auto& device = machine.devices[i];
    if (const auto missing = policy::lacking(request.capabilities, device); !missing.empty()) {
      lacks = device.device.name + ": " + missing;
    } else if (bytes <= device.free) {
      demand.candidates |= policy::DeviceMask{1} << i;
      ++found;
    }
  }
  if (found >= demand.gpus) {
    return "";
  }
  if (machine.devices.size() < demand.gpus) {
    return "needs " + std::to_string(demand.gpus) + " GPUs";
  }
  return lacks.empty() ? "needs " + to_string(bytes) + ", more than a GPU has (" + to_string(largest) + ")" : lacks;
}

PlannedDemand demand_of(const PlannedTest& test, const PlannedMachine& machine, const Sizes& sizes) {
  PlannedDemand planned;
  planned.cost = test.cost.value_or(test.time.count());
  if (test.disabled) {
    planned.why_not = "disabled";
    return planned;
  }
  if (!test.request) {
    return planned;
  }
  const auto& request = *test.request;
  auto& demand = planned.demand.emplace();
  demand.gpus = static_cast<unsigned>(request.gpus);
  if (machine.devices.empty()) {
    planned.why_not = "there is no GPU";
    return planned;
  }
  if (request.memory_class == MemoryClass::large &&
      policy::decide_large(test.large,
                           machine.jobs > 1 && !test.serial ? policy::RunMode::parallel : policy::RunMode::serial) ==
          policy::LargeDecision::exclude) {
    planned.why_not = "large, and excluded while others run";
    return planned;
  }
  demand.memory = policy::to_memory_request(request, sizes.smallest);
  demand.overhead = machine.context + policy::heap_cost(request.heap);
  planned.why_not = find_candidates(demand, request, machine, sizes.largest);
  // Where CTest schedules, gputest gives tests a COST that need more than an eighth of a device
  // (resource_groups.cmake).
  const auto bytes = demand.memory.exclusive ? sizes.largest : demand.memory.bytes + demand.overhead;
  const bool has_own_cost = test.cost && *test.cost != cost_of_workers_cases;
  if (!has_own_cost && planned.why_not.empty() && bytes.count() > sizes.largest.count() / 8) {
    planned.cost = static_cast<double>(bytes.count() >> 20U);
  }
  return planned;
}

} // namespace

bool operator<(const Demand& a, const Demand& b) {
  const auto key = [](const Demand& d) {
    return std::tuple{d.memory.bytes.count(), d.memory.medium_lock, d.memory.exclusive,
                      d.overhead.count(),     d.candidates,         d.gpus};
  };
  return key(a) < key(b);
}

std::vector<PlannedDemand> demands_of(const std::vector<PlannedTest>& tests, const PlannedMachine& machine) {
  const auto sizes = sizes_of(machine.devices);
  std::vector<PlannedDemand> demands;
  demands.reserve(tests.size());
  for (const auto& test : tests) {
    demands.push_back(demand_of(test, machine, sizes));
  }
  return demands;
}

} // namespace gputest::insights
