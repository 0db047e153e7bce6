// SPDX-License-Identifier: BSD-3-Clause
#include "policy/plan_bounds.hpp"

#include <algorithm>
#include <numeric>

namespace gputest::policy {

namespace {

PlanBound longest(const std::vector<PlannedTest>& tests, const std::vector<PlannedRun>& runs) {
  PlanBound bound{PlanBound::Kind::longest, {}, {}};
  std::vector<PlannedSeconds> until(tests.size());
  // Ends are in the order of time, so what a test comes after is summed up before it.
  std::vector<std::size_t> by_end(tests.size());
  std::iota(by_end.begin(), by_end.end(), std::size_t{0});
  std::stable_sort(by_end.begin(), by_end.end(), [&](auto a, auto b) { return runs[a].end < runs[b].end; });
  for (const auto index : by_end) {
    PlannedSeconds before{};
    for (const auto other : tests[index].after) {
      before = std::max(before, until[other]);
    }
    until[index] = before + (runs[index].why_not.empty() ? tests[index].time : PlannedSeconds{});
    if (until[index] > bound.time) {
      bound.time = until[index];
      bound.test = tests[index].name;
    }
  }
  return bound;
}

} // namespace

unsigned jobs_of(const PlannedTest& test, const PlannedMachine& machine) {
  return test.serial ? machine.jobs : std::min(test.processors, machine.jobs);
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
    contexts += std::min(machine.context_time, tests[i].time);
    double bytes = 0;
    for (std::size_t d = 0; d < machine.devices.size(); ++d) {
      if ((runs[i].devices >> d & 1U) != 0) {
        bytes += static_cast<double>(demand->memory.exclusive ? machine.devices[d].free.count()
                                                              : (demand->memory.bytes + demand->overhead).count());
      }
    }
    byte_seconds += bytes * tests[i].time.count();
  }
  std::vector<PlanBound> bounds{
      longest(tests, runs),
      {PlanBound::Kind::jobs, work / machine.jobs, {}},
      {PlanBound::Kind::memory, PlannedSeconds{capacity > 0 ? byte_seconds / capacity : 0}, {}},
      {PlanBound::Kind::contexts, contexts, {}}};
  std::stable_sort(bounds.begin(), bounds.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return bounds;
}

} // namespace gputest::policy
