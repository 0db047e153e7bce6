// SPDX-License-Identifier: BSD-3-Clause
#include "insights/saving.hpp"

#include "insights/entry_runs.hpp"
#include "insights/suite_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace gputest::insights {

namespace {

/// An entry, which asks for the most that its tests ask for.
struct Entry {
  double time = 0;
  Request now{Bytes{1}};
  Request then{Bytes{1}};
};

std::map<std::string, Entry> entries_of(const RunLog& run, const std::vector<Declaration>& declarations) {
  std::map<std::pair<std::string, std::string>, Bytes> advised;
  for (const auto& of : declarations) {
    advised[{of.entry, of.test}] = of.advised;
  }
  std::map<std::string, Entry> entries;
  for (const auto& lease : run.leases) {
    auto& entry = entries[lease.entry];
    entry.time += std::max(0.0, lease.ended - lease.begun);
    const auto now = request_of(lease);
    auto then = now;
    if (const auto found = advised.find({lease.entry, lease.test}); found != advised.end() && found->second > Bytes{}) {
      then = Request{found->second};
      then.gpus = now.gpus;
    }
    entry.now = asks_for_less(entry.now, now) ? now : entry.now;
    entry.then = asks_for_less(entry.then, then) ? then : entry.then;
  }
  return entries;
}

} // namespace

Saving saving_of(const RunLog& run, const std::vector<Declaration>& declarations) {
  const auto entries = entries_of(run, declarations);
  PlannedMachine machine;
  machine.jobs = static_cast<unsigned>(std::clamp<std::uint64_t>(run.jobs.value_or(1), 1, 65536));
  for (const auto& device : run.devices) {
    Device of{device.uuid, device.name, Bytes{device.bytes}, false};
    machine.devices.push_back({of, {}, of.total});
  }
  for (const auto& process : run.processes) {
    machine.context = std::max(machine.context, Bytes{process.overhead_bytes});
  }
  const auto time = [&](Request Entry::*request) {
    std::vector<PlannedTest> tests;
    for (const auto& [name, entry] : entries) {
      PlannedTest test;
      test.name = name;
      test.time = PlannedSeconds{entry.time};
      test.request = entry.*request;
      test.large = LargePolicy::wait;
      tests.push_back(std::move(test));
    }
    return plan_suite(tests, machine).time.count();
  };
  return {time(&Entry::now), time(&Entry::then)};
}

} // namespace gputest::insights
