// SPDX-License-Identifier: BSD-3-Clause
#include "insights/suite_plan.hpp"

#include "core/policy/admission.hpp"
#include "insights/plan_bounds.hpp"
#include "insights/plan_demand.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace gputest::insights {

namespace {

constexpr PlannedSeconds never{std::numeric_limits<double>::infinity()};

/// One suite on one machine, from start to end.
class Simulation {
public:
  Simulation(const std::vector<PlannedTest>& tests, const PlannedMachine& machine)
      : tests_{tests}, machine_{machine}, demands_{demands_of(tests, machine)}, state_(tests.size(), State::pending) {
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
    while (start_what_can() || pass_time()) {
    }
    plan_.time = now_;
    plan_.bounds = bounds_of(tests_, machine_, demands_, plan_.runs);
    return std::move(plan_);
  }

private:
  enum class State { pending, waiting, running, ended };

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
    return !locked && std::all_of(test.after.begin(), test.after.end(),
                                  [&](std::size_t before) { return state_[before] == State::ended; });
  }

  /// Whether a test started, or got its memory.
  bool start_what_can() {
    bool started = grant_waiting();
    std::fill(without_room_.begin(), without_room_.end(), false);
    for (auto position = order_.begin(); position != order_.end() && jobs_in_use_ < machine_.jobs;) {
      const auto index = *position;
      const auto& demand = demands_[index].demand;
      const bool wants_memory = demand && plan_.runs[index].why_not.empty();
      if (!may_start(index) || (wants_memory && without_room_[kind_of_[index]])) {
        ++position;
        continue;
      }
      if (wants_memory && machine_.scheduled && !fits_now(*demand)) {
        without_room_[kind_of_[index]] = true;
        ++position;
        continue;
      }
      start(index);
      position = order_.erase(position);
      started = true;
    }
    if (!started && active_.empty() && !order_.empty()) { // they wait for one another in a circle
      start(order_.front());
      order_.erase(order_.begin());
      started = true;
    }
    return started;
  }

  [[nodiscard]] policy::Claim entering(const Demand& demand) {
    policy::Claim claim;
    claim.stage = policy::Stage::entering;
    claim.ticket = ++ticket_;
    claim.candidates = demand.candidates;
    claim.gpus = demand.gpus;
    claim.overhead_bytes = demand.overhead.count();
    claim.largest_bytes = demand.memory.bytes.count();
    claim.whole_devices = demand.memory.exclusive;
    return claim;
  }

  /// Takes the claim at `position` as far as it comes now. Whether it came further.
  bool advance(std::size_t position, const Demand& demand) {
    auto& claim = snapshot_.claims[position];
    bool further = false;
    if (claim.stage == policy::Stage::entering) {
      const auto decision = policy::decide(snapshot_, position);
      if (const auto* grant = std::get_if<policy::Grant>(&decision)) {
        claim.stage = policy::Stage::waiting;
        claim.devices = claim.wanted = grant->devices;
        claim.ticket = ++ticket_;
        claim.lease_bytes = demand.memory.bytes.count();
        claim.exclusive = demand.memory.exclusive;
        claim.medium_lock = demand.memory.medium_lock;
        further = true;
      }
    }
    if (claim.stage == policy::Stage::waiting &&
        std::holds_alternative<policy::Grant>(policy::decide(snapshot_, position))) {
      claim.stage = policy::Stage::holding;
      further = true;
    }
    return further;
  }

  bool fits_now(const Demand& demand) {
    snapshot_.claims.push_back(entering(demand));
    advance(snapshot_.claims.size() - 1, demand);
    const bool fits = snapshot_.claims.back().stage == policy::Stage::holding;
    snapshot_.claims.pop_back();
    return fits;
  }

  void start(std::size_t index) {
    auto& run = plan_.runs[index];
    run.start = run.begin = run.end = now_;
    if (!run.why_not.empty()) {
      state_[index] = State::ended; // in no time
      return;
    }
    jobs_in_use_ += jobs_of(tests_[index], machine_);
    locks_in_use_.insert(tests_[index].locks.begin(), tests_[index].locks.end());
    active_.push_back({index, never});
    snapshot_.claims.push_back(demands_[index].demand ? entering(*demands_[index].demand) : policy::Claim{});
    state_[index] = State::waiting;
    if (!demands_[index].demand) {
      begin(active_.size() - 1);
    } else {
      grant_waiting();
    }
  }

  void begin(std::size_t position) {
    auto& active = active_[position];
    auto& run = plan_.runs[active.test];
    state_[active.test] = State::running;
    run.begin = now_;
    run.devices = snapshot_.claims[position].devices;
    plan_.waiting += (now_ - run.start) * jobs_of(tests_[active.test], machine_);
    auto from = now_;
    if (demands_[active.test].demand && !tests_[active.test].in_worker) {
      from = std::max(now_, contexts_free_at_);
      contexts_free_at_ = from + context_time_of(tests_[active.test], machine_);
    }
    active.end = from + tests_[active.test].time;
  }

  /// In the order of arrival.
  bool grant_waiting() {
    bool any = false;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      if (state_[active_[i].test] == State::waiting) {
        any = advance(i, *demands_[active_[i].test].demand) || any;
        if (snapshot_.claims[i].stage == policy::Stage::holding) {
          begin(i);
        }
      }
    }
    return any;
  }

  /// To the next end of a test. False if nothing runs.
  bool pass_time() {
    if (active_.empty()) {
      return false;
    }
    const auto next =
        std::min_element(active_.begin(), active_.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
    if (next->end == never) {
      return false;
    }
    now_ = next->end;
    const auto test = next->test;
    plan_.runs[test].end = now_;
    state_[test] = State::ended;
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
  std::vector<State> state_;
  std::vector<std::size_t> order_; ///< of those that have not been started
  std::vector<Active> active_;     ///< by position of the claim in `snapshot_`
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
