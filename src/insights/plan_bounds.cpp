// SPDX-License-Identifier: BSD-3-Clause
#include "insights/plan_bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace gputest::insights {

namespace {

/// Tests that run one after another, of which the last is known.
struct Chain {
  PlannedSeconds time{};
  std::size_t longest = 0; ///< of them, by position
  std::size_t tests = 0;
};

PlanBound longest(const std::vector<PlannedTest>& tests, const std::vector<PlannedRun>& runs) {
  std::vector<Chain> until(tests.size());
  Chain longest;
  // Ends are in the order of time, so what a test comes after is summed up before it.
  std::vector<std::size_t> by_end(tests.size());
  std::iota(by_end.begin(), by_end.end(), std::size_t{0});
  std::stable_sort(by_end.begin(), by_end.end(), [&](auto a, auto b) { return runs[a].end < runs[b].end; });
  for (const auto index : by_end) {
    Chain before;
    for (const auto other : tests[index].after) {
      before = until[other].time > before.time ? until[other] : before;
    }
    auto& chain = until[index] = before;
    if (runs[index].why_not.empty()) {
      chain.time += tests[index].time;
      ++chain.tests;
      const bool may_be_longest = tests[index].runs_with.empty() && tests[index].time > tests[before.longest].time;
      chain.longest = before.tests == 0 || may_be_longest ? index : before.longest;
    }
    longest = chain.time > longest.time ? chain : longest;
  }
  return {PlanBound::Kind::longest, longest.time, longest.tests == 0 ? "" : tests[longest.longest].name, longest.tests};
}

/// The least that a test holds of the devices' memory, wherever it runs.
double least_bytes(const Demand& demand, const PlannedMachine& machine) {
  if (!demand.memory.exclusive) {
    return static_cast<double>((demand.memory.bytes + demand.overhead).count()) * demand.gpus;
  }
  std::vector<std::uint64_t> sizes;
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    if ((demand.candidates >> d & 1U) != 0) {
      sizes.push_back(machine.devices[d].free.count());
    }
  }
  std::sort(sizes.begin(), sizes.end());
  return std::accumulate(sizes.begin(),
                         sizes.begin() + std::min<std::ptrdiff_t>(demand.gpus, sizes.end() - sizes.begin()), 0.0);
}

} // namespace

unsigned jobs_of(const PlannedTest& test, const PlannedMachine& machine) {
  return test.serial ? machine.jobs : std::min(test.processors, machine.jobs);
}

PlannedSeconds context_time_of(const PlannedTest& test, const PlannedMachine& machine) {
  return test.in_worker ? PlannedSeconds{} : std::min(machine.context_time, test.time);
}

std::vector<PlanBound> bounds_of(const std::vector<PlannedTest>& tests, const PlannedMachine& machine,
                                 const std::vector<PlannedDemand>& demands, const std::vector<PlannedRun>& runs) {
  PlannedSeconds work{};
  PlannedSeconds contexts{};
  double byte_seconds = 0;
  double capacity = 0;
  for (const auto& device : machine.devices) {
    capacity += static_cast<double>(device.free.count());
  }
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (!runs[i].why_not.empty()) {
      continue;
    }
    work += tests[i].time * jobs_of(tests[i], machine);
    const auto& demand = demands[i].demand;
    if (!demand) {
      continue;
    }
    contexts += context_time_of(tests[i], machine);
    byte_seconds += least_bytes(*demand, machine) * tests[i].time.count();
  }
  std::vector<PlanBound> bounds{
      longest(tests, runs),
      {PlanBound::Kind::jobs, work / machine.jobs, {}, 0},
      {PlanBound::Kind::memory, PlannedSeconds{capacity > 0 ? byte_seconds / capacity : 0}, {}, 0},
      {PlanBound::Kind::contexts, contexts, {}, 0}};
  std::stable_sort(bounds.begin(), bounds.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return bounds;
}

} // namespace gputest::insights
