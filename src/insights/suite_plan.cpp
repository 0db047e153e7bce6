// SPDX-License-Identifier: BSD-3-Clause
#include "insights/suite_plan.hpp"

#include "core/policy/admission.hpp"
#include "insights/plan_demand.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace gputest::insights {

namespace {

/// How many of ctest's jobs a test takes.
unsigned jobs_of(const PlannedTest& test, const PlannedMachine& machine) {
  return test.serial ? machine.jobs : std::min(test.processors, machine.jobs);
}

/// For how long the driver starts CUDA for a test, while it does so for no other one.
PlannedSeconds context_time_of(const PlannedTest& test, const PlannedMachine& machine) {
  return test.in_worker ? PlannedSeconds{} : std::min(machine.context_time, test.time);
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

/// What no order of the tests can make shorter, the largest first, of a plan whose runs are known.
std::vector<PlanBound> bounds_of(const std::vector<PlannedTest>& tests, const PlannedMachine& machine,
                                 const std::vector<PlannedDemand>& demands, const std::vector<PlannedRun>& runs) {
  PlannedSeconds work{};
  PlannedSeconds contexts{};
  PlanBound longest;
  double byte_seconds = 0;
  double capacity = 0;
  for (const auto& device : machine.devices) {
    capacity += static_cast<double>(device.free.count());
  }
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (!runs[i].why_not.empty()) {
      continue;
    }
    if (tests[i].time > longest.time) {
      longest.time = tests[i].time;
      longest.test = tests[i].name;
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
      longest,
      {PlanBound::Kind::jobs, work / machine.jobs, {}},
      {PlanBound::Kind::memory, PlannedSeconds{capacity > 0 ? byte_seconds / capacity : 0}, {}},
      {PlanBound::Kind::contexts, contexts, {}}};
  std::stable_sort(bounds.begin(), bounds.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return bounds;
}

/// One suite on one machine, from start to end.
class Simulation {
public:
  Simulation(const std::vector<PlannedTest>& tests, const PlannedMachine& machine)
      : tests_{tests}, machine_{machine}, demands_{demands_of(tests, machine)}, ended_(tests.size(), false) {
    plan_.runs.resize(tests.size());
    for (const auto& device : machine.devices) {
      snapshot_.devices.push_back(
          {device.free.count(), 0, device.facts.compute_mode == policy::ComputeMode::exclusive_process});
    }
    std::map<Demand, std::size_t> kinds;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      plan_.runs[i].why_not = demands_[i].why_not;
      const auto& demand = demands_[i].demand;
      kind_of_.push_back(demand ? kinds.try_emplace(*demand, kinds.size()).first->second : 0);
    }
    without_room_.resize(kinds.size());
    order_tests();
  }

  SuitePlan run() {
    do {
      start_what_can();
    } while (pass_time());
    plan_.time = now_;
    plan_.bounds = bounds_of(tests_, machine_, demands_, plan_.runs);
    return std::move(plan_);
  }

private:
  /// As ctest orders them: first what others come after, then those with the largest cost. At -j1 as they are listed.
  void order_tests() {
    order_.resize(tests_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (machine_.jobs == 1) {
      return;
    }
    std::vector<std::size_t> depth(tests_.size(), 0);
    for (std::size_t round = 0; round < tests_.size(); ++round) { // a circle would never end by itself
      bool changed = false;
      for (std::size_t i = 0; i < tests_.size(); ++i) {
        for (const auto before : tests_[i].after) {
          if (depth[before] < depth[i] + 1 && depth[i] < tests_.size()) {
            depth[before] = depth[i] + 1;
            changed = true;
          }
        }
      }
      if (!changed) {
        break;
      }
    }
    const auto key = [&](std::size_t i) { return std::pair{depth[i], demands_[i].cost}; };
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return key(a) > key(b); });
  }

  [[nodiscard]] bool may_start(std::size_t index) const {
    const auto& test = tests_[index];
    if (jobs_in_use_ + jobs_of(tests_[index], machine_) > machine_.jobs) {
      return false;
    }
    const bool locked = std::any_of(test.locks.begin(), test.locks.end(),
                                    [&](const auto& lock) { return locks_in_use_.count(lock) != 0; });
    return !locked &&
           std::all_of(test.after.begin(), test.after.end(), [&](std::size_t before) { return ended_[before]; });
  }

  void start_what_can() {
    std::fill(without_room_.begin(), without_room_.end(), false);
    for (bool started = true; started;) { // what does not run ends at once, and others come after it
      started = false;
      for (auto position = order_.begin(); position != order_.end() && jobs_in_use_ < machine_.jobs;) {
        if (may_start(*position) && start(*position)) {
          position = order_.erase(position);
          started = true;
        } else {
          ++position;
        }
      }
    }
    if (active_.empty() && !order_.empty()) { // they wait for one another in a circle
      start(order_.front());
      order_.erase(order_.begin());
    }
  }

  /// The claim of a test that gets its memory now; nullopt: it does not.
  std::optional<policy::Claim> granted(const Demand& demand) {
    policy::Claim claim;
    claim.stage = policy::Stage::entering;
    claim.ticket = ++ticket_;
    claim.candidates = demand.candidates;
    claim.gpus = demand.gpus;
    claim.overhead_bytes = demand.overhead.count();
    claim.largest_bytes = demand.memory.bytes.count();
    claim.whole_devices = demand.memory.exclusive;
    const auto decide = [&] {
      snapshot_.claims.push_back(claim);
      auto decision = policy::decide(snapshot_, snapshot_.claims.size() - 1);
      snapshot_.claims.pop_back();
      return decision;
    };
    const auto entered = decide();
    const auto* grant = std::get_if<policy::Grant>(&entered);
    if (grant == nullptr) {
      return std::nullopt;
    }
    claim.stage = policy::Stage::waiting;
    claim.devices = claim.wanted = grant->devices;
    claim.lease_bytes = demand.memory.bytes.count();
    claim.exclusive = demand.memory.exclusive;
    claim.medium_lock = demand.memory.medium_lock;
    const bool holds = std::holds_alternative<policy::Grant>(decide());
    claim.stage = policy::Stage::holding;
    return holds ? std::optional{claim} : std::nullopt;
  }

  /// False: there is no memory for it now.
  bool start(std::size_t index) {
    auto& run = plan_.runs[index];
    run.start = run.end = now_;
    if (!run.why_not.empty()) {
      ended_[index] = true; // in no time
      return true;
    }
    const auto& demand = demands_[index].demand;
    policy::Claim claim;
    auto from = now_;
    if (demand) {
      const auto own = without_room_[kind_of_[index]] ? std::nullopt : granted(*demand);
      if (!own) {
        without_room_[kind_of_[index]] = true;
        return false;
      }
      claim = *own;
      if (!tests_[index].in_worker) {
        from = std::max(now_, contexts_free_at_);
        contexts_free_at_ = from + context_time_of(tests_[index], machine_);
      }
    }
    run.devices = claim.devices;
    snapshot_.claims.push_back(claim);
    active_.push_back({index, from + tests_[index].time});
    jobs_in_use_ += jobs_of(tests_[index], machine_);
    locks_in_use_.insert(tests_[index].locks.begin(), tests_[index].locks.end());
    return true;
  }

  /// To the next end of a test. False if nothing is left to run.
  bool pass_time() {
    if (active_.empty()) {
      return !order_.empty();
    }
    const auto next =
        std::min_element(active_.begin(), active_.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
    now_ = next->end;
    const auto test = next->test;
    plan_.runs[test].end = now_;
    ended_[test] = true;
    jobs_in_use_ -= jobs_of(tests_[test], machine_);
    for (const auto& lock : tests_[test].locks) {
      locks_in_use_.erase(lock);
    }
    snapshot_.claims.erase(snapshot_.claims.begin() + (next - active_.begin()));
    active_.erase(next);
    return true;
  }

  struct Active {
    std::size_t test;
    PlannedSeconds end;
  };

  const std::vector<PlannedTest>& tests_;
  const PlannedMachine& machine_;
  std::vector<PlannedDemand> demands_;
  std::vector<std::size_t> kind_of_; ///< by test: tests of one kind have the same demand
  std::vector<bool> without_room_;   ///< by kind: there is none for it now
  std::vector<bool> ended_;          ///< by test
  std::vector<std::size_t> order_;   ///< of those that have not been started
  std::vector<Active> active_;       ///< by position of the claim in `snapshot_`
  policy::Snapshot snapshot_;
  std::set<std::string> locks_in_use_;
  unsigned jobs_in_use_ = 0;
  std::uint64_t ticket_ = 0;
  PlannedSeconds now_{};
  PlannedSeconds contexts_free_at_{};
  SuitePlan plan_;
};

} // namespace

SuitePlan plan_suite(const std::vector<PlannedTest>& tests, const PlannedMachine& machine) {
  return Simulation{tests, machine}.run();
}

} // namespace gputest::insights
